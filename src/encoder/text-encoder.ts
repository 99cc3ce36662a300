/**
 * Turns texts into semantic vectors. Frozen: nothing is learned, and equal texts give equal vectors. It neither
 * caches nor mixes the fields of a task; `query-embedding.ts` does the latter.
 */
export interface FrozenTextEncoder {
  /** Such as `lexical` or `all-MiniLM-L6-v2`. */
  readonly name: string
  /**
   * Equal exactly if the vectors are, except for rounding between runtimes of the same network. Stored in
   * checkpoints, since weights only fit one encoder.
   */
  readonly fingerprint: string
  readonly dims: number
  /** One unit vector per text, in order, even for the empty text. */
  encode(texts: readonly string[]): Promise<Float32Array[]>
}
