import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asciiDigits, isPythonSpace, pythonSplit, pythonStrip } from './text.ts'

test("white space is Python's: five characters more than JavaScript's, one fewer", () => {
  const differing: string[] = []
  for (let code = 0; code <= 0xffff; code += 1)
    if (isPythonSpace(code) !== /\s/.test(String.fromCharCode(code))) differing.push(code.toString(16))
  expect(differing).toEqual(['1c', '1d', '1e', '1f', '85', 'feff'])
})

test('stripping and splitting', () => {
  expect(pythonStrip('\u001c\u00a0 a b\u3000\n')).toBe('a b')
  expect(pythonStrip('\ufeffa')).toBe('\ufeffa')
  expect(pythonSplit(' a\u0085b\u2028 c ')).toEqual(['a', 'b', 'c'])
  expect(pythonSplit(' \t')).toEqual([])
})

test('splitting keeps every other character, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x3001 })), (codes) => {
      const text = String.fromCharCode(...codes)
      const kept = [...text].filter((character) => !isPythonSpace(character.charCodeAt(0)))
      expect(pythonSplit(text).join('')).toBe(kept.join(''))
    }),
  )
})

test('digits of every script become ASCII; other numerals do not', () => {
  expect(asciiDigits('٣٫٥ １２ ९ 𝟘𝟙 7')).toBe('3٫5 12 9 01 7')
  expect(asciiDigits('½ ² 三 Ⅳ')).toBe('½ ² 三 Ⅳ')
})
