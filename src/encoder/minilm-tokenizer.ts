import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { canonicalJson } from '../library/json-value.ts'
import { Problem } from '../problem.ts'
import { ifInstalled, MissingPackageError } from './optional-package.ts'

/** sentence-transformers cuts this model's input here, though the network would take 512. */
const tokensPerChunk = 256

export interface MinilmTokenizer {
  /** Equal for files that give equal ids, however they are formatted. */
  readonly fingerprint: string
  /** The whole text, whatever its length: `[CLS]`, its tokens, `[SEP]`. */
  readonly ids: (text: string) => number[]
  /** The same cut into pieces of at most 256 ids, each with its own `[CLS]` and `[SEP]`. */
  readonly chunks: (text: string) => number[][]
}

// The parts that determine the ids. We do truncation, padding and special tokens ourselves.
const tokenizerSchema = z.object({
  added_tokens: z.array(z.unknown()),
  normalizer: z.object({ type: z.literal('BertNormalizer') }).loose(),
  pre_tokenizer: z.object({ type: z.literal('BertPreTokenizer') }).loose(),
  model: z.object({ type: z.literal('WordPiece'), vocab: z.record(z.string(), z.int()) }).loose(),
})

/** Reads `tokenizer.json`, in the format of Hugging Face's tokenizers. */
export async function openMinilmTokenizer(path: string): Promise<MinilmTokenizer> {
  const { Tokenizer } = await loadTokenizers()
  const content = parseJson(await readFile(path, 'utf8'))
  const { data: parts, error } = tokenizerSchema.safeParse(content)
  if (parts === undefined) throw unusable(path, z.prettifyError(error))
  const { '[CLS]': start, '[SEP]': end } = parts.model.vocab
  if (start === undefined || end === undefined) throw unusable(path, 'no [CLS] or no [SEP]')
  const tokenizer = new Tokenizer(content as object, {})
  const plainIds = (text: string) => tokenizer.encode(likeReference(text), { add_special_tokens: false }).ids
  return {
    fingerprint: createHash('sha256').update(canonicalJson(parts)).digest('hex'),
    ids: (text) => [start, ...plainIds(text), end],
    chunks: (text) => pieces(plainIds(text), tokensPerChunk - 2).map((piece) => [start, ...piece, end]),
  }
}

/** The optional package that MiniLM needs. */
export async function loadTokenizers(): Promise<typeof import('@huggingface/tokenizers')> {
  const library = await ifInstalled(() => import('@huggingface/tokenizers'))
  if (library === undefined) throw new MissingPackageError('The MiniLM encoder', ['@huggingface/tokenizers'])
  return library
}

function unusable(path: string, problem: string): Problem {
  return new Problem(`${path} is not the tokenizer of a MiniLM model: ${problem}`)
}

// Ideographs outside the basic plane, as the reference counts them.
const farIdeograph =
  /[\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu

/**
 * The JavaScript tokenizer differs from the reference in Rust in two places: it takes these ideographs for
 * letters of a word instead of words, and it lowers a capital sigma by its place in the word.
 */
function likeReference(text: string): string {
  return text.replaceAll('Σ', 'σ').replace(farIdeograph, ' $& ')
}

/** At least one piece, even of an empty list. */
function pieces(ids: readonly number[], length: number): number[][] {
  const count = Math.max(1, Math.ceil(ids.length / length))
  return Array.from({ length: count }, (_, index) => ids.slice(index * length, (index + 1) * length))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
