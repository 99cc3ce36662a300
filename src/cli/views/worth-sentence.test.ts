import { expect, test } from 'vitest'
import { worthSentence } from './worth-sentence.ts'

const worth = { difference: 0.04, low: 0.01, high: 0.07, questions: 500 }
const cheaper = { trained: 9000, searched: 12_000 }
const dearer = { trained: 15_000, searched: 12_000 }

test.each([
  ['better', dearer, 'Training was worth it: the trained policy beats'],
  ['worse', cheaper, 'Training was not worth it: the trained policy is worse'],
  [
    'no better',
    cheaper,
    'Training may have paid off in tokens only: the trained policy does not clearly beat',
  ],
  [
    'no better',
    dearer,
    'It is not clear that training was worth it: the trained policy does not clearly beat',
  ],
] as const)('%s with %o', (verdict, tokens, words) => {
  const sentence = worthSentence({ ...worth, verdict, tokens })
  expect(sentence).toContain(words)
  expect(sentence).toContain('+4.0 [+1.0, +7.0] points')
  expect(sentence).toContain('instead of 12.0 k')
  expect(sentence.match(/\.$/g)).toHaveLength(1)
})
