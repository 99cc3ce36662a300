/**
 * A vector of doubles that remembers how it was computed, so that gradients can flow back. Matrices are flat and
 * row-major. The slow, obvious twin of the kernels: one decision at a time, no batching, no reuse.
 */
export class Value {
  readonly data: Float64Array
  /** What it was computed from; empty for leaves and anything that needs no gradient. */
  readonly sources: readonly Value[]
  /** Propagates this value's gradient to its sources. */
  readonly spread: () => void
  /** Whether gradients are needed: for a parameter and everything computed from one. */
  readonly tracked: boolean
  readonly #order: number
  #gradient: Float64Array | undefined

  static #created = 0

  constructor(data: Float64Array, tracked: boolean, sources: readonly Value[] = [], spread = () => {}) {
    this.data = data
    this.tracked = tracked
    this.sources = sources
    this.spread = spread
    this.#order = Value.#created
    Value.#created += 1
  }

  get length(): number {
    return this.data.length
  }

  /** The only entry of a scalar. */
  get number(): number {
    if (this.length !== 1) throw new RangeError(`A vector of ${this.length} entries is not a number.`)
    return this.data[0]!
  }

  /** dL/dthis of the last `backward`; zeros if the loss does not depend on it. */
  get gradient(): Float64Array {
    this.#gradient ??= new Float64Array(this.length)
    return this.#gradient
  }

  /** Computes the gradient of this scalar with respect to every tracked value it was computed from. */
  backward(): void {
    if (this.length !== 1) throw new RangeError('Only a scalar can be differentiated.')
    if (!this.tracked) return
    const reached = new Set<Value>([this])
    for (const value of reached) {
      value.#gradient = new Float64Array(value.length)
      for (const source of value.sources) if (source.tracked) reached.add(source)
    }
    this.gradient[0] = 1
    // Sources are always older than what is computed from them, so newest first is a topological order.
    const newestFirst = [...reached].sort((a, b) => b.#order - a.#order)
    for (const value of newestFirst) value.spread()
  }
}

/** A value to differentiate by: a parameter of the network. */
export function leaf(data: Float64Array): Value {
  return new Value(data, true)
}

/** A constant: an embedding, a mask, a frozen parameter. */
export function constant(data: ArrayLike<number>): Value {
  return new Value(data instanceof Float64Array ? data : Float64Array.from(data), false)
}

/** A value computed from others. If it depends only on constants, it is itself constant and keeps no history. */
export function derived(
  data: Float64Array,
  sources: readonly Value[],
  spread: (gradient: Float64Array) => void,
) {
  if (!sources.some((source) => source.tracked)) return constant(data)
  const value: Value = new Value(data, true, sources, () => spread(value.gradient))
  return value
}
