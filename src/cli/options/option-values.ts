import { InvalidArgumentError } from 'commander'
import { allowedText, isWithin, type Setting } from '../../settings/setting.ts'

/** `learningRate` becomes `--learning-rate`, `pointsPer1000Tokens` becomes `--points-per-1000-tokens`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]|\d+/g, (letter) => `-${letter.toLowerCase()}`)}`
}

type Values = Pick<Setting, 'type' | 'bounds' | 'choices'>

/** Reads a value from the command line. Commander adds the flag to the error message. */
export function readValue(values: Values, text: string): number | boolean | string {
  const { type, bounds, choices } = values
  if (type === 'choice' && choices.includes(text)) return text
  if (type === 'switch' && /^(true|false)$/.test(text)) return text === 'true'
  const isNumber = type === 'whole' ? /^\d+$/.test(text) : type === 'number' && text.trim() !== ''
  if (isNumber && isWithin(Number(text), bounds)) return Number(text)
  const allowed = allowedText(values).replace(/^\d/, ', $&')
  if (type === 'switch' || type === 'choice') throw new InvalidArgumentError(`It must be ${allowed}.`)
  const noun = type === 'whole' ? 'a whole number' : 'a number'
  const wanted = allowed === 'any number' ? noun : `${noun} ${allowed}`.replace(' ,', ',')
  throw new InvalidArgumentError(`It must be ${wanted}.`)
}

/** Reads a whole number from `least` to `most`. */
export function wholeNumber(least: number, most?: number): (text: string) => number {
  return (text) => readValue({ type: 'whole', bounds: { least, most }, choices: [] }, text) as number
}

export function nonNegativeNumber(text: string): number {
  return readValue({ type: 'number', bounds: { least: 0 }, choices: [] }, text) as number
}

export function positiveNumber(text: string): number {
  return readValue({ type: 'number', bounds: { above: 0 }, choices: [] }, text) as number
}
