import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldText } from './fold-text.ts'

test('lines break between words and go on below the indent', () => {
  expect(foldText('one two three four', 9, '  ')).toBe('one two\n  three\n  four')
})

test('no word is lost, and no line is too long unless a word is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,12}$/)),
      fc.integer({ min: 12, max: 60 }),
      (words, room) => {
        const folded = foldText(words.join(' '), room)
        expect(folded.split(/[ \n]/).filter((word) => word !== '')).toEqual(words)
        for (const line of folded.split('\n')) expect(line.length).toBeLessThanOrEqual(room)
      },
    ),
  )
})
