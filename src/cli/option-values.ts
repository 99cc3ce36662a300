import { InvalidArgumentError } from 'commander'

/** Reads a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least || !Number.isSafeInteger(Number(text))) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`)
    }
    return Number(text)
  }
}

export function positiveNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('It must be a number above 0.')
  }
  return value
}
