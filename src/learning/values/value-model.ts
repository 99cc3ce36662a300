import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Random } from '../../numerics/random.ts'
import { type GraphTrait, graphTraits } from './graph-traits.ts'

/** One paid evaluation of a graph on a question. */
export interface Look {
  readonly graph: AgentGraph
  /** Position among the training questions. */
  readonly question: number
  readonly score: number
  readonly tokens: number
}

/** Prior standard deviations, for scores from 0 to 1. */
const prior = {
  /** Of a graph trait's average worth, and of its change with a question trait. */
  part: { always: 0.08, byQuestion: 0.03 },
  pair: { always: 0.03, byQuestion: 0.01 },
  self: { always: 0.03, byQuestion: 0.01 },
  /** Of a question's ease for all graphs. */
  question: 0.3,
  /** Of the noise of a single look. */
  noise: 0.4,
} as const

/** A graph with its traits as columns of the model. */
export interface SeenGraph {
  readonly graph: AgentGraph
  readonly key: string
  looks: number
  tokens: number
  readonly columns: Int32Array
  readonly always: Float64Array
  readonly byQuestion: Float64Array
}

/** The model's weights: the most probable ones, or a draw from the posterior. */
export type Weights = Float64Array

/**
 * Estimates what graphs are worth on questions, from every look so far: a linear model over the traits of graph,
 * question and their products, with a Gaussian prior. Graphs that share parts inform each other; a graph seen often
 * is judged by its own results. Ridge regression by conjugate gradients; memory stays linear in the looks.
 */
export class ValueModel {
  readonly seen = new Map<string, SeenGraph>()
  readonly #traits: readonly Float64Array[]
  /** Weights per graph trait: one for all questions, plus one per question trait. */
  readonly #width: number
  readonly #columns = new Map<string, number>()
  readonly #looks: { readonly graph: SeenGraph; readonly question: number; readonly score: number }[] = []

  /** `traits[question]` are the traits of a training question. */
  constructor(traits: readonly Float64Array[], looks: Iterable<Look>) {
    this.#traits = traits
    this.#width = traits[0]!.length + 1
    for (const { graph, question, score, tokens } of looks) {
      const key = graphKey(graph)
      const seen = this.seen.get(key) ?? this.#describe(graph, key, true)
      this.seen.set(key, seen)
      seen.looks += 1
      seen.tokens += tokens
      this.#looks.push({ graph: seen, question, score })
    }
  }

  /** A graph as the model sees it. A graph that was never run has only the traits it shares with others. */
  describe(graph: AgentGraph): SeenGraph {
    const key = graphKey(graph)
    return this.seen.get(key) ?? this.#describe(graph, key, false)
  }

  #describe(graph: AgentGraph, key: string, isSeen: boolean): SeenGraph {
    const known: [column: number, kind: GraphTrait['kind']][] = []
    for (const { name, kind } of graphTraits(graph)) {
      if (isSeen && !this.#columns.has(name)) this.#columns.set(name, this.#columns.size)
      const column = this.#columns.get(name)
      if (column !== undefined) known.push([column, kind])
    }
    return {
      graph,
      key,
      looks: 0,
      tokens: 0,
      columns: Int32Array.from(known, ([column]) => column),
      always: Float64Array.from(known, ([, kind]) => prior[kind].always),
      byQuestion: Float64Array.from(known, ([, kind]) => prior[kind].byQuestion),
    }
  }

  /** A graph's worth under these weights: the average first, then its change with each question trait. */
  worth(weights: Weights, { columns, always, byQuestion }: SeenGraph, into = new Float64Array(this.#width)) {
    const width = this.#width
    into.fill(0)
    for (let index = 0; index < columns.length; index += 1) {
      const at = columns[index]! * width
      into[0]! += weights[at]! * always[index]!
      for (let k = 1; k < width; k += 1) into[k]! += weights[at + k]! * byQuestion[index]!
    }
    return into
  }

  /** The most probable weights or, with `random`, a draw from the posterior (perturb and optimise). */
  weights(random?: Random): Weights {
    const { question, noise } = prior
    const width = this.#width
    const traits = this.#traits
    const looks = this.#looks
    const graphs = [...this.seen.values()]
    const place = new Map(graphs.map((graph, index) => [graph, index * width]))
    const of = Int32Array.from(looks, ({ graph }) => place.get(graph)!)
    const on = Int32Array.from(looks, (look) => look.question)
    const ease = this.#columns.size * width
    const easeByTrait = ease + traits.length
    const size = easeByTrait + width - 1
    const precision = 1 / (noise * noise)
    const worths = new Float64Array(graphs.length * width)
    const gathered = new Float64Array(graphs.length * width)

    const gather = (look: number, amount: number, into: Float64Array) => {
      const at = of[look]!
      const trait = traits[on[look]!]!
      gathered[at]! += amount
      for (let k = 1; k < width; k += 1) {
        gathered[at + k]! += amount * trait[k - 1]!
        into[easeByTrait + k - 1]! += amount * trait[k - 1]! * question
      }
      into[ease + on[look]!]! += amount * question
    }
    const spread = (into: Float64Array) => {
      for (const [index, { columns, always, byQuestion }] of graphs.entries())
        for (let i = 0; i < columns.length; i += 1) {
          const at = columns[i]! * width
          into[at]! += gathered[index * width]! * always[i]!
          for (let k = 1; k < width; k += 1) into[at + k]! += gathered[index * width + k]! * byQuestion[i]!
        }
    }
    /** (I + XᵀX / noise²) · weights */
    const multiply = (weights: Float64Array, into: Float64Array) => {
      into.set(weights)
      gathered.fill(0)
      for (const [index, graph] of graphs.entries())
        this.worth(weights, graph, worths.subarray(index * width, (index + 1) * width))
      for (let look = 0; look < looks.length; look += 1) {
        const at = of[look]!
        const trait = traits[on[look]!]!
        let value = worths[at]! + weights[ease + on[look]!]! * question
        for (let k = 1; k < width; k += 1)
          value += (worths[at + k]! + weights[easeByTrait + k - 1]! * question) * trait[k - 1]!
        gather(look, value * precision, into)
      }
      spread(into)
    }

    const mean = looks.reduce((sum, { score }) => sum + score, 0) / Math.max(1, looks.length)
    const variance =
      looks.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / Math.max(1, looks.length)
    // The prior assumes scores of 0 and 1; other scores are rescaled by their spread.
    const scale = Math.max(1e-9, Math.sqrt(variance) / noise)
    const target = new Float64Array(size)
    if (random !== undefined) for (let i = 0; i < size; i += 1) target[i] = random.normal()
    gathered.fill(0)
    for (const [look, { score }] of looks.entries()) {
      const seen = (score - mean) / scale + (random === undefined ? 0 : noise * random.normal())
      gather(look, seen * precision, target)
    }
    spread(target)
    return conjugateGradients(multiply, target).map((weight) => weight * scale)
  }
}

/** Solves A x = b for a symmetric positive definite A, precisely enough to choose between graphs. */
function conjugateGradients(
  multiply: (x: Float64Array, into: Float64Array) => void,
  b: Float64Array,
): Float64Array {
  const size = b.length
  const x = new Float64Array(size)
  const image = new Float64Array(size)
  const rest = b.slice()
  const direction = b.slice()
  let length = innerProduct(rest, rest)
  const enough = length * 1e-7
  for (let iteration = 0; iteration < 150 && length > enough; iteration += 1) {
    multiply(direction, image)
    const step = length / innerProduct(direction, image)
    for (let i = 0; i < size; i += 1) {
      x[i]! += step * direction[i]!
      rest[i]! -= step * image[i]!
    }
    const before = length
    length = innerProduct(rest, rest)
    for (let i = 0; i < size; i += 1) direction[i] = rest[i]! + (length / before) * direction[i]!
  }
  return x
}

/** A graph's worth on a question with these traits, not counting how hard the question is for all graphs. */
export function worthOn(worth: Float64Array, traits: Float64Array): number {
  let value = worth[0]!
  for (let k = 0; k < traits.length; k += 1) value += worth[k + 1]! * traits[k]!
  return value
}

export function innerProduct(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!
  return sum
}
