// Which texts Python's `float` and `int` accept. Both allow one underscore between digits, digits of any script, and
// white space around.
import { asciiDigits, pythonStrip } from './text.ts'

const floatSyntax =
  /^[+-]?(?:(?:[0-9](?:_?[0-9])*(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:e[+-]?[0-9](?:_?[0-9])*)?|inf(?:inity)?)$/i
const intSyntax = /^[+-]?[0-9](?:_?[0-9])*$/

/** Python refuses to convert longer texts to integers, because it takes quadratic time. */
export const intDigitLimit = 4300

/** Whether `float(word)` gives a number (`nan` does not count). The word has ASCII digits and no white space. */
export function isFloatWord(word: string): boolean {
  return floatSyntax.test(word)
}

/** `int(text)`, or undefined if Python raises a ValueError. */
export function pythonInt(text: string): bigint | undefined {
  const digits = asciiDigits(pythonStrip(text))
  if (!intSyntax.test(digits)) return undefined
  const plain = digits.replaceAll('_', '')
  const sign = plain.startsWith('-') ? -1n : 1n
  const magnitude = plain.replace(/^[+-]/, '')
  return magnitude.length > intDigitLimit ? undefined : sign * BigInt(magnitude)
}
