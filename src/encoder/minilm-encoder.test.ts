import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { plainTinyMean, tinyOnnxModel } from '../../test/tiny-onnx-model.ts'
import { type MinilmEncoder, openMinilmEncoder } from './minilm-encoder.ts'
import { type MinilmTokenizer, openMinilmTokenizer } from './minilm-tokenizer.ts'

const tokenizerPath = sharedPath('data', 'minilm', 'tokenizer.json')
const long = 'The revenue of 2019 was 12.5 million. '.repeat(60)

function modelFile(bytes: Uint8Array): string {
  const path = join(mkdtempSync(join(tmpdir(), 'minilm-')), 'model.onnx')
  writeFileSync(path, bytes)
  return path
}

function unit(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector)
  return vector.map((entry) => entry / length)
}

describeShared('MiniLM encoder', () => {
  let encoder: MinilmEncoder
  let tokenizer: MinilmTokenizer
  const open = (bytes: Uint8Array) => openMinilmEncoder({ model: modelFile(bytes), tokenizer: tokenizerPath })

  beforeAll(async () => {
    encoder = await open(tinyOnnxModel())
    tokenizer = await openMinilmTokenizer(tokenizerPath)
  })

  test.each(['', 'a', 'What is the capital of France?'])(
    '%j: the normalised mean over its tokens',
    async (text) => {
      const [vector] = await encoder.encode([text])
      const expected = unit(plainTinyMean(tokenizer.ids(text)))
      expect(vector).toHaveLength(384)
      for (const [index, entry] of vector!.entries()) expect(entry).toBeCloseTo(expected[index]!, 5)
    },
  )

  test('a long text: chunks normalised, averaged, normalised again', async () => {
    const content = tokenizer.ids(long).slice(1, -1)
    const parts: number[][] = []
    for (let start = 0; start < content.length; start += 254)
      parts.push(unit(plainTinyMean([101, ...content.slice(start, start + 254), 102])))
    expect(parts.length).toBeGreaterThan(2)
    const expected = unit(parts[0]!.map((_, entry) => parts.reduce((sum, part) => sum + part[entry]!, 0)))
    const [vector] = await encoder.encode([long])
    for (const [index, entry] of vector!.entries()) expect(entry).toBeCloseTo(expected[index]!, 5)
  })

  test('a vector does not depend on the batch, the order or the process', async () => {
    const texts = [
      ...Array.from({ length: 40 }, (_, index) => `Question ${index} of many`),
      long,
      '',
      'a',
      long,
    ]
    const together = await encoder.encode(texts)
    const backwards = (await encoder.encode(texts.toReversed())).toReversed()
    const again = await open(tinyOnnxModel())
    for (const [index, text] of texts.entries()) {
      expect((await again.encode([text]))[0]).toEqual(together[index])
      expect(backwards[index]).toEqual(together[index])
    }
  })

  test('many full chunks are split into several batches', async () => {
    const [once] = await encoder.encode([long])
    const many = await encoder.encode(new Array<string>(12).fill(long))
    for (const vector of many) expect(vector).toEqual(once)
    expect(await encoder.encode([])).toEqual([])
  })

  test('the fingerprint depends on the files', async () => {
    const same = await open(tinyOnnxModel())
    const other = await open(tinyOnnxModel({ output: 'token_embeddings' }))
    expect(same.fingerprint).toBe(encoder.fingerprint)
    expect(other.fingerprint).not.toBe(encoder.fingerprint)
    expect(encoder.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect([encoder.name, encoder.dims]).toEqual(['all-MiniLM-L6-v2', 384])
    // The other common name of the last layer.
    expect(await other.encode(['a'])).toEqual(await encoder.encode(['a']))
  })

  test.each([
    ['not a model', Buffer.from('not a model'), /cannot serve/],
    [
      'an input that is not MiniLM’s',
      tinyOnnxModel({ input: 'pixels' }),
      /it needs the unknown inputs pixels/,
    ],
    ['no last layer', tinyOnnxModel({ output: 'logits' }), /its outputs are logits, not last_hidden_state/],
  ])('%s is refused by name', async (_, bytes, message) => {
    const broken = await open(bytes)
    await expect(broken.encode(['a'])).rejects.toThrow('cannot serve as the network')
    await expect(broken.encode(['a'])).rejects.toThrow(message)
  })
})
