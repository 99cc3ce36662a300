/**
 * Turns texts into semantic vectors. Frozen: nothing is learned here, and equal texts give equal vectors. It
 * does not cache, and it does not mix the fields of a task; `query-embedding.ts` does.
 */
export interface FrozenTextEncoder {
  /** Such as `lexical` or `all-MiniLM-L6-v2`. */
  readonly name: string
  /**
   * Equal exactly when the vectors are, but for rounding where several runtimes serve one network. A checkpoint
   * keeps it, since weights fit one encoder only.
   */
  readonly fingerprint: string
  readonly dims: number
  /** One vector of unit length per text, in order. Every text has one, the empty text too. */
  encode(texts: readonly string[]): Promise<Float32Array[]>
}
