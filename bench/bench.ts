/** What a bench returns. Figures are ratios; everything else helps to read them. */
export interface BenchResult {
  readonly figures: Record<string, number>
  readonly goals: Record<string, { readonly value: number; readonly atLeast: boolean }>
  readonly [detail: string]: unknown
}

export interface BenchOptions {
  /** Fewer repetitions: shows that it runs, but the figures mean little. */
  readonly quick: boolean
  /** Reports progress. */
  readonly say: (line: string) => void
  /** For benches that repeat with several seeds. */
  readonly seeds?: readonly number[]
}

export type Bench = (options: BenchOptions) => Promise<BenchResult>

export function atLeast(value: number): { value: number; atLeast: boolean } {
  return { value, atLeast: true }
}

export function atMost(value: number): { value: number; atLeast: boolean } {
  return { value, atLeast: false }
}

/** Repeated times of one operation, in milliseconds. */
export class Samples {
  readonly #values: number[] = []

  add(milliseconds: number): void {
    this.#values.push(milliseconds)
  }

  get size(): number {
    return this.#values.length
  }

  get sorted(): number[] {
    return this.#values.toSorted((a, b) => a - b)
  }

  /** The q-quantile: 0.5 is the median. */
  quantile(q: number): number {
    const { sorted } = this
    const position = (sorted.length - 1) * q
    const below = Math.floor(position)
    const above = Math.ceil(position)
    return sorted[below]! + (sorted[above]! - sorted[below]!) * (position - below)
  }

  get median(): number {
    return this.quantile(0.5)
  }

  /** The median ratio of samples taken together. */
  medianRatioTo(other: Samples): number {
    const ratios = new Samples()
    for (const [index, value] of this.#values.entries()) ratios.add(value / other.#values[index]!)
    return ratios.median
  }

  summary(): { median: number; fastest: number; p90: number; samples: number } {
    const round = (value: number) => Number(value.toPrecision(4))
    return {
      median: round(this.median),
      fastest: round(this.quantile(0)),
      p90: round(this.quantile(0.9)),
      samples: this.#values.length,
    }
  }
}

export function timed(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** The exponent b of time ≈ a·sizeᵇ that fits best. */
export function fittedExponent(sizes: readonly number[], times: readonly number[]): number {
  const xs = sizes.map(Math.log)
  const ys = times.map(Math.log)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [mx, my] = [mean(xs), mean(ys)]
  const covariance = xs.reduce((sum, x, i) => sum + (x - mx) * (ys[i]! - my), 0)
  const variance = xs.reduce((sum, x) => sum + (x - mx) ** 2, 0)
  return covariance / variance
}
