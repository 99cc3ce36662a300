import { InvalidArgumentError } from 'commander'
import { allowedText, isWithin, type Setting } from '../../settings/setting.ts'

type Values = Pick<Setting, 'type' | 'bounds' | 'choices'>

/** Reads a value from the command line. Commander shows the error's message with the flag. */
export function readValue(values: Values, text: string): number | boolean | string {
  const { type, bounds, choices } = values
  if (type === 'choice' && choices.includes(text)) return text
  if (type === 'switch' && /^(true|false)$/.test(text)) return text === 'true'
  const isNumber = type === 'whole' ? /^\d+$/.test(text) : type === 'number' && text.trim() !== ''
  if (isNumber && isWithin(Number(text), bounds)) return Number(text)
  throw new InvalidArgumentError(`It must be ${wanted(values)}.`)
}

function wanted(values: Values): string {
  const allowed = allowedText(values)
  if (values.type === 'switch' || values.type === 'choice') return allowed
  const noun = values.type === 'whole' ? 'a whole number' : 'a number'
  if (allowed === 'any number') return noun
  return `${noun}${/^\d/.test(allowed) ? ',' : ''} ${allowed}`
}

/** Reads a whole number from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const bounds = { least, most: most === Number.MAX_SAFE_INTEGER ? undefined : most }
  return (text) => readValue({ type: 'whole', bounds, choices: [] }, text) as number
}

export function positiveNumber(text: string): number {
  return readValue({ type: 'number', bounds: { above: 0 }, choices: [] }, text) as number
}
