import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutToWidth, padToWidth, textWidth } from './text-width.ts'

test.each([
  ['', 0],
  ['plain', 5],
  ['naïve', 5],
  ['nai\u0308ve', 5],
  ['東京', 4],
  ['ｆｕｌｌ', 8],
  ['ﾊﾝ', 2],
  ['한국', 4],
  ['👍', 2],
  ['🇩🇪', 2],
  ['❤\ufe0f', 2],
  ['▸ …━⠤', 5],
])('%s takes %d cells', (text, width) => expect(textWidth(text)).toBe(width))

test('cuts between characters', () => {
  expect(cutToWidth('independent', 11)).toBe('independent')
  expect(cutToWidth('independent', 6)).toBe('indep…')
  expect(cutToWidth('independent', 6, '...')).toBe('ind...')
  expect(cutToWidth('東京都', 4)).toBe('東…')
  expect(cutToWidth('東京都', 5)).toBe('東京…')
  expect(cutToWidth('long', 0)).toBe('')
  expect(cutToWidth('long', 2, '...')).toBe('..')
})

test('a text that was cut fits, and one that was padded is as wide as wanted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 30 }), (text, width) => {
      const cut = cutToWidth(text, width)
      expect(textWidth(cut)).toBeLessThanOrEqual(width)
      for (const side of ['left', 'right'] as const)
        expect(textWidth(padToWidth(cut, width, side))).toBe(width)
    }),
  )
})
