import { expect, test } from 'vitest'
import { scoreText } from './exact-match.ts'

const reference = { kind: 'text', accepted: ['New York City', 'Straße', 'caf\u00e9'] } as const

test.each([['New York City'], ['  new york\n\tCITY '], ['STRASSE'], ['cafe\u0301']])(
  '%j is accepted',
  (answer) => {
    expect(scoreText(answer, reference)).toEqual({ score: 1, parse: 'ok' })
  },
)

test.each([['New York'], ['the New York City'], ['New York City.'], ['cafe'], ['NewYorkCity']])(
  '%j is a different text',
  (answer) => {
    expect(scoreText(answer, reference)).toEqual({ score: 0, parse: 'ok' })
  },
)

test.each([[''], [' \n'], [null], [3], [['New York City']], [{}]])('%j is not an answer', (answer) => {
  expect(scoreText(answer, reference)).toEqual({ score: 0, parse: 'invalid' })
})
