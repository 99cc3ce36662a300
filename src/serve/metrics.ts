// Prometheus' text format, written by hand: four kinds of metrics need no package.
import type { Cost } from '../models/prices.ts'
import type { Usage } from '../models/usage.ts'

/** Upper bounds of the histogram in seconds, from a single fast call to a graph of slow models. */
const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** A value that is read when metrics are requested. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly read: () => number
}

export class Metrics {
  readonly #gauges: readonly Gauge[]
  readonly #requests = new Map<string, number>()
  readonly #tokens = new Map<string, number>()
  readonly #calls = new Map<string, number>()
  readonly #cost = new Map<string, number>()
  readonly #buckets = bounds.map(() => 0)
  #answers = 0
  #seconds = 0

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges
  }

  countRequest(route: string, status: number): void {
    increase(this.#requests, labels({ route, status: String(status) }), 1)
  }

  /** Counts calls even if there was no answer. */
  countCalls(model: string, usage: Pick<Usage, 'calls' | 'input' | 'output'>, cost: Cost): void {
    increase(this.#calls, labels({ model }), usage.calls)
    increase(this.#tokens, labels({ model, kind: 'input' }), usage.input)
    increase(this.#tokens, labels({ model, kind: 'output' }), usage.output)
    if (cost !== 'unpriced') increase(this.#cost, labels({ model, currency: cost.currency }), cost.amount)
  }

  countAnswer(seconds: number): void {
    this.#answers += 1
    this.#seconds += seconds
    for (const [place, bound] of bounds.entries()) if (seconds <= bound) this.#buckets[place]! += 1
  }

  get text(): string {
    const counters = [
      ...family('magic_requests_total', 'counter', 'HTTP requests.', this.#requests),
      ...family('magic_model_calls_total', 'counter', 'Model calls.', this.#calls),
      ...family('magic_tokens_total', 'counter', 'Tokens used by model calls.', this.#tokens),
      ...family('magic_cost_total', 'counter', 'Cost of model calls.', this.#cost),
    ]
    const buckets = new Map(
      bounds.map((bound, place) => [labels({ le: String(bound) }), this.#buckets[place]!]),
    )
    const name = 'magic_answer_seconds'
    const histogram = [
      ...family(name, 'histogram', 'Time from an accepted request to its answer.', buckets, '_bucket'),
      `${name}_bucket{le="+Inf"} ${this.#answers}`,
      `${name}_sum ${this.#seconds}`,
      `${name}_count ${this.#answers}`,
    ]
    return `${[...counters, ...histogram].join('\n')}\n${gaugesText(this.#gauges)}`
  }
}

function gaugesText(gauges: readonly Gauge[]): string {
  const lines = gauges.flatMap(({ name, help, read }) => family(name, 'gauge', help, new Map([['', read()]])))
  return lines.map((line) => `${line}\n`).join('')
}

function increase(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

export function labels(pairs: Readonly<Record<string, string>>): string {
  const escaped = (value: string) => value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
  return `{${Object.entries(pairs)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`
}

export function family(
  name: string,
  type: string,
  help: string,
  values: ReadonlyMap<string, number>,
  suffix = '',
): string[] {
  const lines = [...values].map(([label, value]) => `${name}${suffix}${label} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}
