import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { cachedEncoder, embeddingCacheFolder } from './embedding-cache.ts'
import { lexicalEncoder } from './lexical-encoder.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

const texts = ['one', 'two', '', 'one', '\ud800', '\ud801']
const path = () => join(folder, `${lexicalEncoder.fingerprint}.lines`)

const linesOf = (content: string) => content.split('\n').filter((line) => line !== '')

let folder: string
/** The texts the encoder behind the cache was asked for. */
let asked: string[]
const counted: FrozenTextEncoder = {
  ...lexicalEncoder,
  encode: (given) => {
    asked.push(...given)
    return lexicalEncoder.encode(given)
  },
}

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'embeddings-')), 'magic', 'embeddings')
  asked = []
})

const encode = (given = texts, onProblem?: (problem: string) => void) =>
  cachedEncoder(counted, folder, onProblem).encode(given)

test('each text is encoded once, and cached vectors are bit-identical', async () => {
  const expected = await lexicalEncoder.encode(texts)
  expect(await encode()).toEqual(expected)
  expect(asked).toEqual(['one', 'two', '', '\ud800', '\ud801'])
  expect(await encode()).toEqual(expected)
  expect(await encode(['two', 'three'])).toEqual(await lexicalEncoder.encode(['two', 'three']))
  expect(asked.slice(5)).toEqual(['three'])
  expect(linesOf(readFileSync(path(), 'latin1'))).toHaveLength(6)
})

test('keeps the encoder’s identity, and returned vectors can be modified safely', async () => {
  const cached = cachedEncoder(counted, folder)
  expect({ ...cached, encode: null }).toEqual({ ...lexicalEncoder, encode: null })
  const [vector] = await cached.encode(['one'])
  vector!.fill(0)
  expect(await cached.encode(['one'])).toEqual(await lexicalEncoder.encode(['one']))
  expect(await cached.encode([])).toEqual([])
})

test('another encoder has separate entries', async () => {
  await encode()
  const other = cachedEncoder({ ...counted, fingerprint: 'f'.repeat(64) }, folder)
  await other.encode(['one'])
  expect(asked).toHaveLength(6)
})

describe('damage', () => {
  test('a truncated entry is recomputed, and later entries are kept', async () => {
    await encode(['one'])
    const whole = readFileSync(path())
    await fc.assert(
      // An entry without its line end is still complete.
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 2 }), async (length) => {
        writeFileSync(path(), whole)
        truncateSync(path(), length)
        await encode(['two'])
        asked = []
        expect(await encode(['one', 'two'])).toEqual(await lexicalEncoder.encode(['one', 'two']))
        expect(asked).toEqual(['one'])
      }),
      { numRuns: 30 },
    )
  })

  test('a flipped bit costs only that entry', async () => {
    await encode(['one', 'two', 'three'])
    const whole = readFileSync(path())
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (position, bit) => {
        const damaged = Buffer.from(whole)
        damaged[position]! ^= 1 << bit
        writeFileSync(path(), damaged)
        asked = []
        const expected = await lexicalEncoder.encode(['one', 'two', 'three'])
        expect(await encode(['one', 'two', 'three'])).toEqual(expected)
        // Losing a line end between two others, or the last one, does no harm.
        expect(asked.length).toBeLessThanOrEqual(1)
        const isLineEnd = whole[position] === 0x0a
        if (!isLineEnd) expect(asked).toHaveLength(1)
      }),
      { numRuns: 40 },
    )
  })

  test('a file with other content is ignored', async () => {
    await encode(['one'])
    writeFileSync(path(), 'MGEV'.repeat(1000))
    appendFileSync(path(), Buffer.alloc(10_000))
    expect(await encode(['one'])).toEqual(await lexicalEncoder.encode(['one']))
  })
})

test('an unwritable folder warns once and does no harm', async () => {
  writeFileSync(join(folder, '../..', 'file'), '')
  folder = join(folder, '../..', 'file')
  const problems: string[] = []
  const cached = cachedEncoder(counted, folder, (problem) => problems.push(problem))
  for (const text of ['one', 'two', 'one'])
    expect(await cached.encode([text])).toEqual(await lexicalEncoder.encode([text]))
  expect(asked).toEqual(['one', 'two'])
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(/^Embeddings are not cached: .*file/)
})

test('concurrent processes do not corrupt each other’s entries', async () => {
  const module = (name: string) => JSON.stringify(new URL(`./${name}`, import.meta.url).href)
  const script = (label: string) => `
    const { cachedEncoder } = await import(${module('embedding-cache.ts')})
    const { lexicalEncoder } = await import(${module('lexical-encoder.ts')})
    const encoder = cachedEncoder(lexicalEncoder, ${JSON.stringify(folder)})
    for (let n = 0; n < 50; n++) await encoder.encode(['${label} ' + n])`
  const run = (label: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(label)])
  await Promise.all([run('a'), run('b')])
  await encode(['a', 'b'].flatMap((label) => Array.from({ length: 50 }, (_, n) => `${label} ${n}`)))
  expect(asked).toEqual([])
})

test('the default folder follows the environment', () => {
  expect(embeddingCacheFolder({ XDG_CACHE_HOME: '/xdg' })).toBe('/xdg/magic/embeddings')
  expect(embeddingCacheFolder({})).toMatch(/\.cache\/magic\/embeddings$/)
})
