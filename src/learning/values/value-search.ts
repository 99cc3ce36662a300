import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { ConstructionSpace } from '../../graph/legality.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { randomGraph } from '../../policy/random-graph.ts'
import { valueRounds } from '../../settings/training.ts'
import { coveringPool } from './covering-pool.ts'
import { neighbourOf } from './neighbours.ts'
import { tokenModel } from './token-model.ts'
import { type Look, type SeenGraph, ValueModel, type Weights, worthOn } from './value-model.ts'

export type Pair = Pick<Look, 'graph' | 'question'>

export interface ValueSearchOptions {
  readonly seed: number
  /** Graph evaluations to be paid for. */
  readonly evaluations: number
  /** Score that a token must bring to be worth it. */
  readonly tokenWorth: number
  /** Exploring ends once so many rounds have brought nothing better than the ones before; 0 for never. */
  readonly patience: number
  readonly space: ConstructionSpace
  /** Looks of earlier runs: they teach as much as the others, and are no part of what is paid for. */
  readonly known?: readonly Look[]
  /** Traits of each training question. */
  readonly traits: readonly Float64Array[]
}

/** Shares of the evaluations: a first look at random graphs, and all that comes before graphs are confirmed. */
const surveyShare = 0.25
const searchShare = 0.6
/** Questions that each random graph is tried on at first. */
const surveyed = 5
const { explore: exploreRounds } = valueRounds
/** In an exploring round: draws of the weights, graphs that are known to be good, their neighbours, and random ones. */
const draws = 2
const [leaders, neighbours, strangers] = [60, 400, 40] as const

/**
 * Which graphs to try on which questions next, after these rounds of looks. Everything follows from the looks so far and the
 * seed, so a training that is resumed goes on as if nothing had happened.
 */
export function proposeLooks(rounds: readonly (readonly Look[])[], options: ValueSearchOptions): Pair[] {
  const round = rounds.length
  const paid = rounds.flat()
  const looks = [...(options.known ?? []), ...paid]
  const random = deriveRandom(options.seed, 'values', round)
  const seen = new Set(looks.map(({ graph, question }) => pairKey(graphKey(graph), question)))
  const left = options.evaluations - paid.length
  const wanted =
    round === 0
      ? survey(options, random)
      : round <= exploreRounds
        ? isFlat(rounds, options)
          ? []
          : explore(exploringShare(round, paid.length, options), looks, seen, options, random)
        : confirm(round - exploreRounds, looks, options)
  const fresh = wanted.filter(({ graph, question }) => {
    const key = pairKey(graphKey(graph), question)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  return fresh.slice(0, Math.max(0, left))
}

/** Whether the last exploring rounds, as many as the patience, did no better than the best before them. */
function isFlat(rounds: readonly (readonly Look[])[], { patience, tokenWorth }: ValueSearchOptions): boolean {
  const explored = rounds.slice(1).filter((looks) => looks.length > 0)
  if (patience === 0 || explored.length <= patience)
    return patience > 0 && explored.length < rounds.length - 1
  const worth = (looks: readonly Look[]) =>
    looks.reduce((sum, { score, tokens }) => sum + score - tokenWorth * tokens, 0) / looks.length
  const best = (some: readonly (readonly Look[])[]) => Math.max(...some.map(worth))
  return best(explored.slice(-patience)) <= best(explored.slice(0, -patience))
}

function survey({ evaluations, space, traits }: ValueSearchOptions, random: Random): Pair[] {
  const each = Math.min(surveyed, traits.length)
  const count = Math.max(1, Math.floor((evaluations * surveyShare) / each))
  const next = inTurn(traits.length, random)
  const graphs = [AgentGraph.empty, ...Array.from({ length: count }, () => randomGraph(space, random))]
  return graphs.flatMap((graph) => Array.from({ length: each }, () => ({ graph, question: next() })))
}

/** Looks of an exploring round: what is left of the search's share, spread over the rounds to come. */
function exploringShare(round: number, paid: number, { evaluations }: ValueSearchOptions): number {
  return Math.ceil((evaluations * searchShare - paid) / (exploreRounds - round + 1))
}

/**
 * Thompson sampling: under weights that are as likely as the looks allow, each question gets the graph that would be best
 * for it. Candidates are the best graphs so far, graphs that differ from them in one or two things, and some random ones.
 */
function explore(
  count: number,
  looks: readonly Look[],
  seen: ReadonlySet<string>,
  { tokenWorth, space, traits }: ValueSearchOptions,
  random: Random,
): Pair[] {
  if (count <= 0) return []
  const model = new ValueModel(traits, looks)
  const tokens = tokenModel(model)
  const rate = (weights: Weights, graph: SeenGraph) => {
    const worth = model.worth(weights, graph)
    worth[0]! -= tokenWorth * tokens(graph)
    return { graph, worth }
  }
  const likely = model.weights()
  const rated = [...model.seen.values()].map((graph) => rate(likely, graph))
  const favourites = new Set(traits.map((trait) => bestFor(trait, rated).graph))
  rated.sort((a, b) => b.worth[0]! - a.worth[0]!)
  const parents = [...favourites, ...rated.slice(0, 10).map(({ graph }) => graph)]
  const candidates = new Map<string, SeenGraph>()
  const consider = (graph: SeenGraph) => candidates.set(graph.key, graph)
  for (const { graph } of rated.slice(0, leaders)) consider(graph)
  for (const graph of favourites) consider(graph)
  for (let i = 0; i < neighbours; i += 1) {
    const parent = parents[Math.floor(random.uniform() * parents.length)]!.graph
    const near = neighbourOf(parent, space, random)
    consider(model.describe(random.uniform() < 0.3 ? neighbourOf(near, space, random) : near))
  }
  for (let i = 0; i < strangers; i += 1) consider(model.describe(randomGraph(space, random)))

  return Array.from({ length: draws }).flatMap(() => {
    const weights = model.weights(random)
    const drawn = [...candidates.values()].map((graph) => rate(weights, graph))
    return shuffled(traits.keys(), random)
      .slice(0, Math.ceil(count / draws))
      .flatMap((question) => {
        const open = drawn.filter(({ graph }) => !seen.has(pairKey(graph.key, question)))
        return open.length === 0 ? [] : [{ graph: bestFor(traits[question]!, open).graph.graph, question }]
      })
  })
}

/** A pool of graphs that complement each other, on a quarter of the questions; then the best of them on all. */
function confirm(stage: number, looks: readonly Look[], options: ValueSearchOptions): Pair[] {
  const { evaluations, traits, seed } = options
  const perQuestion = evaluations / traits.length
  const [size, share] = stage === 1 ? [0.7 * perQuestion, 0.25] : [0.25 * perQuestion, 1]
  const order = shuffled(traits.keys(), deriveRandom(seed, 'values', 'confirm'))
  const questions = order.slice(0, Math.ceil(share * traits.length))
  const pool = poolOf(looks, options, Math.max(2, Math.round(size)))
  return pool.flatMap((graph) => questions.map((question) => ({ graph, question })))
}

/** The graphs that together serve the training questions best, by what is known; the best fixed one first. */
export function poolOf(
  looks: readonly Look[],
  { tokenWorth, traits }: Pick<ValueSearchOptions, 'tokenWorth' | 'traits'>,
  size: number,
): AgentGraph[] {
  const model = new ValueModel(traits, looks)
  const tokens = tokenModel(model)
  const weights = model.weights()
  const graphs = [...model.seen.values()]
  const worths = graphs.map((graph) => {
    const worth = model.worth(weights, graph)
    return Float64Array.from(traits, (trait) => worthOn(worth, trait) - tokenWorth * tokens(graph))
  })
  return coveringPool(worths, size).map((index) => graphs[index]!.graph)
}

interface RatedGraph {
  readonly graph: SeenGraph
  readonly worth: Float64Array
}

function bestFor(traits: Float64Array, rated: readonly RatedGraph[]): RatedGraph {
  let best = rated[0]!
  let most = Number.NEGATIVE_INFINITY
  for (const one of rated) {
    const value = worthOn(one.worth, traits)
    if (value <= most) continue
    most = value
    best = one
  }
  return best
}

function pairKey(graph: string, question: number): string {
  return `${graph} ${question}`
}

/** Gives every number below `count` once before any comes again. */
function inTurn(count: number, random: Random): () => number {
  let order: number[] = []
  return () => {
    if (order.length === 0) order = shuffled(Array(count).keys(), random)
    return order.pop()!
  }
}
