import { expect, test } from 'vitest'
import { booleanReference, choiceReference, numberTextReference } from './raw-reference.ts'

test('an index is a label, a letter is upper-cased', () => {
  expect([0, 9, 'e', 'B'].map((raw) => choiceReference(raw).label)).toEqual(['A', 'J', 'E', 'B'])
  expect(() => choiceReference(26)).toThrow(/No letter/)
})

test('truth in all its spellings', () => {
  const raws = [true, 'yes', 'Yes', 1, '1', 'entailed', false, 'NO', 0, '0', 'REFUTED', 'maybe', 2]
  expect(raws.map((raw) => booleanReference(raw)?.value)).toEqual([
    ...Array(6).fill(true),
    ...Array(5).fill(false),
    undefined,
    undefined,
  ])
})

test('the text after the last mark', () => {
  expect(numberTextReference('#### 1 ####\u00a02\n')?.text).toBe('2')
  expect(numberTextReference('2')).toBe(undefined)
})
