import { expect, test } from 'vitest'
import { worthSentence } from './worth-sentence.ts'

const worth = { difference: 0.04, low: 0.01, high: 0.07, questions: 500 }
const cheaper = { trained: 9000, searched: 12_000 }
const dearer = { trained: 15_000, searched: 12_000 }

test.each([
  ['better', dearer, 'Training was worth it: the trained policy is better'],
  ['worse', cheaper, 'Training was not worth it: the trained policy is worse'],
  [
    'no better',
    cheaper,
    'Training was worth it at most for its tokens: the trained policy does not score clearly',
  ],
  ['no better', dearer, 'Training is not shown to be worth it: the trained policy is not clearly better'],
] as const)('%s with %o', (verdict, tokens, words) => {
  const sentence = worthSentence({ ...worth, verdict, tokens })
  expect(sentence).toContain(words)
  expect(sentence).toContain('+4.0 [+1.0, +7.0] points')
  expect(sentence).toContain('against 12.0 k')
  expect(sentence.match(/\.$/g)).toHaveLength(1)
})
