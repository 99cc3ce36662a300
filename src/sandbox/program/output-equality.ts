import { type Decimal, equalDecimals, parseDecimal } from '../../python/decimal.ts'
import { pythonSplit, pythonStrip } from '../../python/text.ts'

/**
 * LiveCodeBench's comparison of standard output: stripped as a whole, then line by line. Two lines agree as text, or
 * if both consist of numbers that are pairwise equal as `Decimal`.
 */
export function equalOutputs(actual: string, expected: string): boolean {
  const actualLines = lines(actual)
  const expectedLines = lines(expected)
  return (
    actualLines.length === expectedLines.length &&
    actualLines.every(
      (line, index) => line === expectedLines[index]! || equalNumbers(line, expectedLines[index]!),
    )
  )
}

function lines(text: string): string[] {
  return pythonStrip(text).split('\n').map(pythonStrip)
}

function equalNumbers(actual: string, expected: string): boolean {
  const left = numbers(actual)
  const right = numbers(expected)
  if (left === undefined || right === undefined || left.length !== right.length) return false
  return left.every((number, index) => equalDecimals(number, right[index]!))
}

function numbers(line: string): Decimal[] | undefined {
  const found: Decimal[] = []
  for (const word of pythonSplit(line)) {
    const number = parseDecimal(word)
    if (number === undefined) return undefined
    found.push(number)
  }
  return found
}
