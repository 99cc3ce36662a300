import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { canonicalJson } from '../library/json-value.ts'
import { requirePackage } from '../optional-package.ts'
import { Problem } from '../problem.ts'
import { pieces } from './chunked-encoding.ts'

/** sentence-transformers cuts this model's input here, though the network would take 512. */
const tokensPerChunk = 256

export interface MinilmTokenizer {
  /** Equal for files that give equal ids, regardless of formatting. */
  readonly fingerprint: string
  /** The whole text, whatever its length: `[CLS]`, its tokens, `[SEP]`. */
  readonly ids: (text: string) => number[]
  /** The same, split into pieces of at most 256 ids, each with its own `[CLS]` and `[SEP]`. */
  readonly chunks: (text: string) => number[][]
}

const vocab = z.object({ '[CLS]': z.int(), '[SEP]': z.int() }).catchall(z.int())

// The parts that determine the ids. We do truncation, padding and special tokens ourselves.
const tokenizerSchema = z.object({
  added_tokens: z.array(z.unknown()),
  normalizer: z.object({ type: z.literal('BertNormalizer') }).loose(),
  pre_tokenizer: z.object({ type: z.literal('BertPreTokenizer') }).loose(),
  model: z.object({ type: z.literal('WordPiece'), vocab }).loose(),
})

/** Reads `tokenizer.json`, in the format of Hugging Face's tokenizers. */
export async function openMinilmTokenizer(path: string): Promise<MinilmTokenizer> {
  const { Tokenizer } = await loadTokenizers()
  const { content, parts } = readParts(path, await readFile(path, 'utf8'))
  const { '[CLS]': start, '[SEP]': end } = parts.model.vocab
  const tokenizer = new Tokenizer(content, {})
  const plainIds = (text: string): number[] =>
    tokenizer.encode(likeReference(text), { add_special_tokens: false }).ids
  return {
    fingerprint: createHash('sha256').update(canonicalJson(parts)).digest('hex'),
    ids: (text) => [start, ...plainIds(text), end],
    chunks: (text) => pieces(plainIds(text), tokensPerChunk - 2).map((piece) => [start, ...piece, end]),
  }
}

/** The optional package that MiniLM needs. */
export function loadTokenizers(): Promise<typeof import('@huggingface/tokenizers')> {
  return requirePackage(
    'The MiniLM encoder',
    ['@huggingface/tokenizers'],
    () => import('@huggingface/tokenizers'),
  )
}

function readParts(path: string, text: string) {
  try {
    const content = JSON.parse(text)
    return { content, parts: tokenizerSchema.parse(content) }
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new Problem(`${path} is not the tokenizer of a MiniLM model: ${problem}`)
  }
}

// Ideographs outside the basic plane, as in the reference.
const farIdeograph =
  /[\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu

/**
 * The JavaScript tokenizer differs from the Rust reference in two ways: it treats these ideographs as letters of a
 * word instead of words, and it lowercases a capital sigma depending on its position in the word.
 */
function likeReference(text: string): string {
  return text.replaceAll('Σ', 'σ').replace(farIdeograph, ' $& ')
}
