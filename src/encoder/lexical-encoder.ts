import { createHash } from 'node:crypto'
import { encodeChunked, pieces } from './chunked-encoding.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

// Any change here or below changes the vectors, and trained weights no longer fit: raise the version. A test pins the
// vectors of some texts.
const settings = {
  version: 1,
  dims: 384,
  wordsPerChunk: 256,
  longestWord: 64,
  gramLengths: [3, 4, 5],
  weights: { word: 1, pair: 0.25, gram: 1, sign: 0.3 },
  fullWeightFrom: 6,
} as const

/**
 * The built-in encoder, used if MiniLM is not available: words, pairs of adjacent words and character n-grams, hashed
 * into 384 dimensions with a sign. It sees spelling, not meaning: texts are close if they share words or stems. Needs
 * no download and gives the same bits on every machine.
 */
export const lexicalEncoder: FrozenTextEncoder = {
  name: 'lexical',
  fingerprint: createHash('sha256')
    .update(`lexical-encoder${JSON.stringify(settings)}`)
    .digest('hex'),
  dims: settings.dims,
  encode: (texts) =>
    encodeChunked(texts, {
      split: (text) => pieces(wordsOf(text), settings.wordsPerChunk),
      encodeChunks: async (chunks) => chunks.map(encodeWords),
    }),
}

/** Letters and digits form words; every other visible character is a word of its own, for formulas and code. */
function wordsOf(text: string): string[] {
  // Long runs are split, so that a page of base64 costs no more than a page of prose.
  const word = new RegExp(`[\\p{L}\\p{M}\\p{N}]{1,${settings.longestWord}}|[^\\s\\p{L}\\p{M}\\p{N}]`, 'gu')
  return folded(text).match(word) ?? []
}

/** NFKC and case folding. JavaScript has no case folding; upper then lower case is the same, except for the final sigma. */
function folded(text: string): string {
  const composed = text.toWellFormed().normalize('NFKC')
  return composed.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC')
}

function encodeWords(words: readonly string[]): Float64Array {
  const { weights } = settings
  const vector = new Float64Array(settings.dims)
  const add = (hash: number, weight: number) => {
    const mixed = mixedBits(hash)
    // The lowest bit is the sign, so that colliding features cancel out on average instead of adding up.
    vector[(mixed >>> 1) % settings.dims]! += mixed & 1 ? weight : -weight
  }
  for (const [word, count] of counted(words)) {
    const weight = importance(word) * damped(count)
    add(hashOf(word, wordHash), weights.word * weight)
    const grams = gramHashes(word)
    // Divided by the root of their number, so that all grams of a word together weigh as much as the word.
    for (const gram of grams) add(gram, (weights.gram * weight) / Math.sqrt(grams.length))
  }
  const pairs = words.slice(1).map((word, index) => `${words[index]!} ${word}`)
  for (const [pair, count] of counted(pairs)) {
    const [first, second] = pair.split(' ') as [string, string]
    const weight = Math.min(importance(first), importance(second)) * damped(count)
    add(hashOf(pair, pairHash), weights.pair * weight)
  }
  return vector
}

/** Sub-linear, because the tenth mention says less than the first. A root, because logarithms differ between machines. */
const damped = Math.sqrt

/** Short words are mostly function words, so no list of stop words is needed. */
function importance(word: string): number {
  if (!/[\p{L}\p{N}]/u.test(word)) return settings.weights.sign
  return Math.min(1, [...word].length / settings.fullWeightFrom)
}

/** Hashes of all n-grams of the word with its boundary marks, except the whole word. No gram is made as a text. */
function gramHashes(word: string): number[] {
  if (!/[\p{L}\p{N}]/u.test(word)) return []
  const marked = `<${word}>`
  /** Where each letter starts, and the end. */
  const starts = [0]
  for (const letter of marked) starts.push(starts.at(-1)! + letter.length)
  const hashes: number[] = []
  for (const length of settings.gramLengths) {
    if (length >= starts.length - 1) break
    for (let first = 0; first + length < starts.length; first += 1)
      hashes.push(hashOf(marked, gramHash, starts[first], starts[first + length]))
  }
  return hashes
}

function counted(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** FNV-1a over the UTF-16 bytes of a part of a text; `before` is the hash of what comes before it. */
function hashOf(text: string, before = 0x811c9dc5, from = 0, to = text.length): number {
  let hash = before
  for (let index = from; index < to; index += 1) {
    const unit = text.charCodeAt(index)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  return hash
}

/** The kinds of features hash differently, even if their texts are equal. */
const wordHash = hashOf('word ')
const gramHash = hashOf('gram ')
const pairHash = hashOf('pair ')

/** The mixing steps of MurmurHash3; 32 bits. */
function mixedBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
