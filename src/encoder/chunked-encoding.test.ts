import { expect, test } from 'vitest'
import { encodeChunked } from './chunked-encoding.ts'

/** Reads one word at a time. Its vectors have any norm, like a model's raw output. */
const vectors: Record<string, number[]> = { east: [3, 0], north: [0, 0.5], west: [-2, 0], '': [0, 7] }
const seen: string[][] = []
const wordwise = {
  split: (text: string) => text.split(' '),
  encodeChunks: async (chunks: readonly string[]) => {
    seen.push([...chunks])
    return chunks.map((chunk) => vectors[chunk]!)
  },
}

test('chunks are normalised, averaged and normalised again', async () => {
  const [both, twice] = await encodeChunked(['east north', 'east east north'], wordwise)
  expect(both![0]).toBeCloseTo(Math.SQRT1_2, 6)
  expect(both![1]).toBeCloseTo(Math.SQRT1_2, 6)
  expect(twice![0]).toBeCloseTo(2 / Math.sqrt(5), 6)
  expect(twice![1]).toBeCloseTo(1 / Math.sqrt(5), 6)
})

test('a single chunk is only normalised; empty text is one chunk', async () => {
  const [north, empty] = await encodeChunked(['north', ''], wordwise)
  expect([...north!]).toEqual([0, 1])
  expect([...empty!]).toEqual([0, 1])
})

test('all chunks of all texts are encoded in one call', async () => {
  seen.length = 0
  await encodeChunked(['east north', 'west'], wordwise)
  expect(seen).toEqual([['east', 'north', 'west']])
})

test('chunks that cancel out give the first axis, not NaN', async () => {
  const [nowhere] = await encodeChunked(['east west'], wordwise)
  expect([...nowhere!]).toEqual([1, 0])
})

test('a vector with a non-finite entry is refused', async () => {
  const broken = { split: (text: string) => [text], encodeChunks: async () => [[1, Number.NaN]] }
  await expect(encodeChunked(['x'], broken)).rejects.toThrow(/Entry 1 of a semantic vector is NaN/)
})
