import { expect, test } from 'vitest'
import { lexicalEncoder } from './lexical-encoder.ts'
import { libraryEmbeddings } from './library-embeddings.ts'

test('each text has its own vector, in library order', async () => {
  const texts = [
    { role: 'solves', atomic: 'solves alone', group: 'three solve' },
    { role: 'checks', atomic: null, group: 'three check' },
    { role: 'plans', atomic: 'plans alone' },
  ]
  const encode = async (text: string) => (await lexicalEncoder.encode([text]))[0]!
  expect(await libraryEmbeddings(texts, lexicalEncoder)).toEqual([
    {
      role: await encode('solves'),
      atomic: await encode('solves alone'),
      group: await encode('three solve'),
    },
    { role: await encode('checks'), atomic: null, group: await encode('three check') },
    { role: await encode('plans'), atomic: await encode('plans alone'), group: null },
  ])
})

test('an empty library has no vectors', async () => {
  expect(await libraryEmbeddings([], lexicalEncoder)).toEqual([])
})
