import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../problem.ts'
import { encodeChunked } from './chunked-encoding.ts'
import type { MinilmPaths } from './minilm-files.ts'
import { openMinilmTokenizer } from './minilm-tokenizer.ts'
import { loadOnnxRuntime, type OnnxRuntime, openOnnxModel } from './onnx-runtime.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

const settings = { version: 1, name: 'all-MiniLM-L6-v2', dims: 384 } as const

/** Limits the memory of a batch: attention takes 12 heads × length² × 4 bytes per chunk and layer. */
const tokensPerBatch = 4096

export interface MinilmEncoder extends FrozenTextEncoder {
  readonly runtime: OnnxRuntime['name']
}

/**
 * The paper's encoder: tokens of the last layer averaged over a chunk. Files are read and checked here; the network
 * itself is opened with the first text, so that a run whose texts are all cached never loads it. The fingerprint
 * covers network and tokenizer, not the runtime: the two runtimes differ in the last bits, and a policy trained with
 * one must work with the other.
 */
export async function openMinilmEncoder(paths: MinilmPaths): Promise<MinilmEncoder> {
  const runtime = await loadOnnxRuntime()
  const tokenizer = await openMinilmTokenizer(paths.tokenizer)
  const digest = hash('sha256', await readFile(paths.model), 'hex')
  const identity = JSON.stringify([settings, digest, tokenizer.fingerprint])
  let opened: Promise<Network> | undefined
  return {
    name: settings.name,
    fingerprint: hash('sha256', identity, 'hex'),
    dims: settings.dims,
    runtime: runtime.name,
    encode: async (texts) => {
      if (texts.length === 0) return []
      opened ??= openNetwork(runtime, paths.model)
      const network = await opened
      return encodeChunked(texts, {
        split: tokenizer.chunks,
        encodeChunks: (chunks) => encodeBatches(network, chunks),
      })
    },
  }
}

/** Mean vectors of chunks that all have the same length. */
type Network = (chunks: readonly (readonly number[])[]) => Promise<Float64Array[]>

/** The network's inputs per token. Chunks are never padded, so attention is always on. */
const inputValue: Record<string, (id: number) => bigint> = {
  input_ids: BigInt,
  attention_mask: () => 1n,
  token_type_ids: () => 0n,
}

async function openNetwork(runtime: OnnxRuntime, path: string): Promise<Network> {
  const unusable = (problem: string, options?: ErrorOptions) =>
    new Problem(`${path} cannot serve as the network of ${settings.name}: ${problem}`, options)
  // Read again after the digest, because keeping 90 MB would be a waste if all texts are cached.
  const session = await openOnnxModel(runtime, await readFile(path)).catch((error: unknown) => {
    throw unusable(error instanceof Error ? error.message : String(error), { cause: error })
  })
  const { inputNames, outputNames } = session
  const unknown = inputNames.filter((name) => !(name in inputValue))
  if (unknown.length > 0) throw unusable(`it needs the unknown inputs ${unknown.join(', ')}`)
  // Exports use different names for the last layer.
  const output = ['last_hidden_state', 'token_embeddings'].find((name) => outputNames.includes(name))
  if (output === undefined) throw unusable(`its outputs are ${outputNames.join(', ')}, not last_hidden_state`)
  return async (chunks) => {
    const shape = [chunks.length, chunks[0]!.length]
    const ids = chunks.flat()
    const tensor = (name: string) =>
      new runtime.ort.Tensor('int64', BigInt64Array.from(ids, inputValue[name]!), shape)
    const results = await session.run(Object.fromEntries(inputNames.map((name) => [name, tensor(name)])))
    const { dims, data } = results[output]!
    const expected = [...shape, settings.dims]
    if (dims.join() !== expected.join() || !(data instanceof Float32Array))
      throw unusable(`its output has the shape ${dims.join('×')}, not ${expected.join('×')}`)
    return chunks.map((chunk, row) => meanOfTokens(data, row * chunk.length, chunk.length))
  }
}

function meanOfTokens(tokens: Float32Array, first: number, count: number): Float64Array {
  const mean = new Float64Array(settings.dims)
  for (let token = first; token < first + count; token += 1) {
    for (let entry = 0; entry < settings.dims; entry += 1)
      mean[entry]! += tokens[token * settings.dims + entry]! / count
  }
  return mean
}

/**
 * All chunks of a batch have the same length. Padding would cost time, and the last bits of a vector would depend on
 * the other chunks in its batch.
 */
async function encodeBatches(
  network: Network,
  chunks: readonly (readonly number[])[],
): Promise<Float64Array[]> {
  const vectors = new Array<Float64Array>(chunks.length)
  const byLength = Map.groupBy(chunks.keys(), (index) => chunks[index]!.length)
  for (const [length, indices] of byLength) {
    const size = Math.max(1, Math.floor(tokensPerBatch / length))
    for (let start = 0; start < indices.length; start += size) {
      const batch = indices.slice(start, start + size)
      const means = await network(batch.map((index) => chunks[index]!))
      for (const [position, index] of batch.entries()) vectors[index] = means[position]!
      // The network blocks this thread; let timers, signals and progress bars run between batches.
      await setImmediate()
    }
  }
  return vectors
}
