import { unitVector, unitVectorOfSum } from './unit-vector.ts'

/** An encoder with limited input length. `Chunk` is what it reads: a text, token ids. */
interface ChunkEncoder<Chunk> {
  /** Splits a text at the encoder's limit, in order. At least one chunk, even for the empty text. */
  readonly split: (text: string) => readonly Chunk[]
  /** One vector per chunk, in order, of any norm. */
  readonly encodeChunks: (chunks: readonly Chunk[]) => Promise<readonly ArrayLike<number>[]>
}

/**
 * The paper's rule for long fields: normalise each chunk's vector, average them, and normalise the mean. The chunks
 * of all texts are encoded in one call, so that an encoder can fill its batches.
 */
export async function encodeChunked<Chunk>(
  texts: readonly string[],
  { split, encodeChunks }: ChunkEncoder<Chunk>,
): Promise<Float32Array[]> {
  const chunked = texts.map(split)
  const vectors = (await encodeChunks(chunked.flat())).values()
  return chunked.map(({ length }) =>
    unitVectorOfSum(
      Array.from({ length }, () => ({ weight: 1 / length, vector: unitVector(vectors.next().value!) })),
    ),
  )
}

/** Pieces of at most `length` items. At least one piece, even for an empty list. */
export function pieces<Item>(items: readonly Item[], length: number): Item[][] {
  const count = Math.max(1, Math.ceil(items.length / length))
  return Array.from({ length: count }, (_, index) => items.slice(index * length, (index + 1) * length))
}
