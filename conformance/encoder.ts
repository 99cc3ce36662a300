// Token ids of the MiniLM tokenizer, from every .jsonl file of a folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type MinilmTokenizer, openMinilmTokenizer } from '../src/encoder/minilm-tokenizer.ts'
import type { CaseResult, KindRunner } from './case.ts'
import { difference } from './difference.ts'

const caseSchema = z.object({ id: z.string(), text: z.string(), ids: z.array(z.int()) })

export const runEncoderCases: KindRunner = async function* (folder) {
  // Beside the folder's collection of cases, or else beside the checkout.
  const places = [join(folder, '../..'), fileURLToPath(new URL('../../shared', import.meta.url))]
  const candidates = places.map((place) => join(place, 'data', 'minilm', 'tokenizer.json'))
  const path = candidates.find((candidate) => existsSync(candidate))
  if (path === undefined) {
    yield { name: folder, failure: `the ids need a tokenizer, ${candidates.join(' or ')}` }
    return
  }
  const tokenizer = await openMinilmTokenizer(path)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() !== '') yield runCase(tokenizer, line, `${file}:${index + 1}`)
    }
  }
}

function runCase(tokenizer: MinilmTokenizer, line: string, place: string): CaseResult {
  try {
    const { id, text, ids } = caseSchema.parse(JSON.parse(line))
    const failure = difference(ids, tokenizer.ids(text)) ?? chunkFailure(tokenizer, text, ids)
    return failure === undefined ? { name: id } : { name: id, failure }
  } catch (error) {
    return { name: place, failure: error instanceof Error ? error.message : String(error) }
  }
}

/** Chunks split the sequence without its special tokens; each chunk gets its own. */
function chunkFailure(tokenizer: MinilmTokenizer, text: string, ids: readonly number[]): string | undefined {
  const chunks = tokenizer.chunks(text)
  const [start, end] = [ids[0]!, ids.at(-1)!]
  const joined = chunks.flatMap((chunk) => chunk.slice(1, -1))
  const isFramed = chunks.every((chunk) => chunk[0] === start && chunk.at(-1) === end)
  const isFull = chunks.every(({ length }, index) => length === 256 || index === chunks.length - 1)
  if (!isFramed || !isFull || chunks.some(({ length }) => length > 256)) return 'chunks are cut wrongly'
  return difference(ids.slice(1, -1), joined, 'chunks')
}
