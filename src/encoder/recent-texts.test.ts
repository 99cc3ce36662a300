import { expect, test } from 'vitest'
import { lexicalEncoder } from './lexical-encoder.ts'
import { rememberRecent } from './recent-texts.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

function counting() {
  const asked: string[] = []
  const encoder: FrozenTextEncoder = {
    ...lexicalEncoder,
    encode: (texts) => {
      asked.push(...texts)
      return lexicalEncoder.encode(texts)
    },
  }
  return { asked, encoder: rememberRecent(encoder) }
}

test('vectors are unchanged, and a text in use is encoded once', async () => {
  const { asked, encoder } = counting()
  const texts = ['one', 'two', 'one', '']
  const [first, second] = await Promise.all([encoder.encode(texts), encoder.encode(['two', 'three'])])
  expect(first).toEqual(await lexicalEncoder.encode(texts))
  expect(second).toEqual(await lexicalEncoder.encode(['two', 'three']))
  expect(new Set(asked).size).toBe(4)
  expect(asked.filter((text) => text === 'two')).toHaveLength(1)
  first[0]!.fill(0)
  expect(await encoder.encode(['one'])).toEqual(await lexicalEncoder.encode(['one']))
})

test('the least recently used text is evicted first', async () => {
  const { asked, encoder } = counting()
  for (let number = 0; number < 600; number += 1) await encoder.encode(['always', `text ${number}`])
  expect(asked.filter((text) => text === 'always')).toHaveLength(1)
  await encoder.encode(['text 0'])
  expect(asked.filter((text) => text === 'text 0')).toHaveLength(2)
})

test('a failure is not remembered', async () => {
  let fails = true
  const encoder = rememberRecent({
    ...lexicalEncoder,
    encode: async (texts) => {
      if (fails) throw new Error('not now')
      return lexicalEncoder.encode(texts)
    },
  })
  await expect(encoder.encode(['one'])).rejects.toThrow('not now')
  fails = false
  expect(await encoder.encode(['one'])).toEqual(await lexicalEncoder.encode(['one']))
})
