import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { pinnedTokenizer } from './minilm-files.ts'
import { type MinilmTokenizer, openMinilmTokenizer } from './minilm-tokenizer.ts'

const path = sharedPath('data', 'minilm', 'tokenizer.json')

function fileWith(content: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'tokenizer-')), 'tokenizer.json')
  writeFileSync(file, content)
  return file
}

describeShared('MiniLM tokenizer', () => {
  let tokenizer: MinilmTokenizer
  beforeAll(async () => {
    tokenizer = await openMinilmTokenizer(path)
  })

  // Ids from the Rust reference (tokenizers 0.23), for texts where the JavaScript package differs from it.
  test.each([
    ['a capital sigma at the end of a word', 'ΟΔΟΣ', [101, 1169, 29722, 29730, 29733, 102]],
    ['a small final sigma', 'οδος', [101, 1169, 29722, 15297, 102]],
    ['an ideograph beyond the BMP is a word', 'of\u{20000}the', [101, 1997, 100, 1996, 102]],
    ['a compatibility ideograph is a word', 'of\u{2f800}the', [101, 1997, 100, 1996, 102]],
    ['an ideograph the reference misses', 'of\u{2b820}the', [101, 100, 102]],
  ])('%s', (_, text, ids) => {
    expect(tokenizer.ids(text)).toEqual(ids)
  })

  test('chunks cover the whole text in order, 254 tokens plus two special ones each', () => {
    const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.lorem({ maxCount: 400 })), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join(' ')
        const chunks = tokenizer.chunks(whole)
        for (const [index, chunk] of chunks.entries()) {
          expect([chunk[0], chunk.at(-1)]).toEqual([101, 102])
          expect(chunk.length).toBeLessThanOrEqual(256)
          if (index < chunks.length - 1) expect(chunk.length).toBe(256)
        }
        expect(chunks.flatMap((chunk) => chunk.slice(1, -1))).toEqual(tokenizer.ids(whole).slice(1, -1))
      }),
      { numRuns: 50 },
    )
  })

  test('empty text is one chunk, and so is a text that just fits', () => {
    expect(tokenizer.chunks('')).toEqual([[101, 102]])
    expect(tokenizer.chunks('a '.repeat(254))).toHaveLength(1)
    expect(tokenizer.chunks('a '.repeat(255)).map(({ length }) => length)).toEqual([256, 3])
  })

  test("the hub's older file has the pinned digest and the same fingerprint", async () => {
    // Edit the text itself: parsing would move number-like keys to the front of the vocabulary.
    const text = readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.trim().replace(/^("(?:[^"\\]|\\.)*"): /, '$1:'))
      .join('')
      .replace('"truncation":{"direction":"Right",', '"truncation":{')
      .replace(/("content":"[^"]*",[^}]*),"special":true}/g, '"special":true,$1}')
    expect(createHash('sha256').update(text).digest('hex')).toBe(pinnedTokenizer.sha256)
    expect((await openMinilmTokenizer(fileWith(text))).fingerprint).toBe(tokenizer.fingerprint)
  })

  test('another vocabulary changes the fingerprint', async () => {
    const content = JSON.parse(readFileSync(path, 'utf8'))
    content.model.vocab['the'] = content.model.vocab['of']
    const changed = await openMinilmTokenizer(fileWith(JSON.stringify(content)))
    expect(changed.fingerprint).not.toBe(tokenizer.fingerprint)
  })

  test('a missing package says what to install', () => {
    const module = JSON.stringify(new URL('./minilm-tokenizer.ts', import.meta.url).href)
    const script = `
      import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) {
        if (name !== '@huggingface/tokenizers') return next(name, context)
        throw Object.assign(new Error('absent'), { code: 'ERR_MODULE_NOT_FOUND' })
      } })
      const { openMinilmTokenizer } = await import(${module})
      await openMinilmTokenizer(${JSON.stringify(path)}).catch((error) => console.log(error.message))`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(output.trim()).toBe(
      'The MiniLM encoder needs @huggingface/tokenizers, an optional package: npm install @huggingface/tokenizers',
    )
  })
})

test.each([
  ['not JSON', 'x'],
  ['another kind of tokenizer', '{"added_tokens":[],"model":{"type":"BPE","vocab":{}}}'],
  [
    'no special tokens',
    '{"added_tokens":[],"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","vocab":{"a":0}}}',
  ],
])('%s is refused by name', async (_, content) => {
  await expect(openMinilmTokenizer(fileWith(content))).rejects.toThrow(
    'is not the tokenizer of a MiniLM model',
  )
})
