import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareCodePoints } from './code-point-order.ts'

// Built from code points rather than units, so that lone surrogates and the range above them are common.
const codePoint = fc.oneof(
  fc.constantFrom(0x41, 0x61, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff, 0x10000, 0x10ffff),
  fc.integer({ min: 0, max: 0x10ffff }),
)
const text = fc.array(codePoint, { maxLength: 6 }).map((points) => String.fromCodePoint(...points))

/** The slow twin: compares lists of code points. */
function slowly(a: string, b: string): number {
  const [left, right] = [[...a], [...b]].map((list) => list.map((character) => character.codePointAt(0)!))
  for (let i = 0; i < Math.min(left!.length, right!.length); i += 1)
    if (left![i] !== right![i]) return left![i]! - right![i]!
  return left!.length - right!.length
}

test('agrees with comparing lists of code points', () => {
  fc.assert(
    fc.property(text, text, text, (start, a, b) => {
      expect(Math.sign(compareCodePoints(start + a, start + b))).toBe(Math.sign(slowly(start + a, start + b)))
    }),
    { numRuns: 2000 },
  )
})

test('a character beyond U+FFFF comes after U+FF5E', () => {
  expect(['\u{1f600}', '\uff5e', 'a', ''].sort(compareCodePoints)).toEqual(['', 'a', '\uff5e', '\u{1f600}'])
})
