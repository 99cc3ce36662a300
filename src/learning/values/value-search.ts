import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { ConstructionSpace } from '../../graph/legality.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { randomGraph } from '../../policy/random-graph.ts'
import { valueRounds } from '../../settings/training.ts'
import { type HalvingRound, halvingRounds } from '../successive-halving.ts'
import { coveringPool } from './covering-pool.ts'
import { rankFixed } from './fixed-graphs.ts'
import { neighbourOf } from './neighbours.ts'
import { bestOf, isConfirmed, type RatedGraph, rateGraphs, worthOfTokens } from './rated-graphs.ts'
import { type Look, type SeenGraph, ValueModel, worthOn } from './value-model.ts'

export type Pair = Pick<Look, 'graph' | 'question'>

export interface ValueSearchOptions {
  readonly seed: number
  /** The budget, in graph evaluations. */
  readonly evaluations: number
  /** The score one token must gain to be worth it. */
  readonly tokenWorth: number
  /** Upper limit on the mean tokens per training question. */
  readonly maxTokens?: number
  /** Exploration ends after this many rounds without improvement; 0 for never. */
  readonly patience: number
  readonly space: ConstructionSpace
  /** Looks of earlier runs. They count like the others, but not against the budget. */
  readonly known?: readonly Look[]
  /** Traits of each training question. */
  readonly traits: readonly Float64Array[]
}

/** Shares of the evaluations: for the survey of random graphs, and for everything before confirmation. */
const surveyShare = 0.3
const searchShare = 0.75
/** Share of the questions that random graphs are run on, per round. */
const surveyed = [1 / 40, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
/** Questions per random graph if the evaluations are too few for successive halving. */
const tried = 5
const { survey: surveyRounds, explore: exploreRounds } = valueRounds
/** Fewest posterior draws per exploring round. */
const draws = 2
/** Candidates of an exploring round: good graphs, their neighbours, and random graphs. */
const [leaders, neighbours, strangers] = [60, 400, 40] as const
/** Share of an exploring round spent on finding the best fixed graph, and the questions each candidate for it is run on. */
const forAllShare = 0.3
const block = 20
/** Graphs to confirm, per evaluation a question has: first on a quarter of the questions, then the best on all. */
const confirmed = [
  { graphs: 0.45, questions: 0.25 },
  { graphs: 0.18, questions: 1 },
] as const

/**
 * Which graphs to try on which questions next. This depends only on the looks so far and the seed, so a resumed
 * training continues identically.
 */
export function proposeLooks(rounds: readonly (readonly Look[])[], options: ValueSearchOptions): Pair[] {
  const round = rounds.length
  const paid = rounds.flat()
  const looks = [...(options.known ?? []), ...paid]
  const random = deriveRandom(options.seed, 'values', round)
  const seen = new Set(looks.map(({ graph, question }) => pairKey(graphKey(graph), question)))
  const left = options.evaluations - paid.length
  const wanted =
    round < surveyRounds
      ? survey(round, looks, options)
      : round < surveyRounds + exploreRounds
        ? isFlat(rounds, options)
          ? []
          : explore(exploringShare(round, paid.length, options), looks, seen, options, random)
        : confirm(round - surveyRounds - exploreRounds, looks, options)
  const fresh = wanted.filter(({ graph, question }) => {
    const key = pairKey(graphKey(graph), question)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  return fresh.slice(0, Math.max(0, left))
}

/** Whether the last `patience` exploring rounds were no better than the best before them. */
function isFlat(rounds: readonly (readonly Look[])[], { patience, tokenWorth }: ValueSearchOptions): boolean {
  const explored = rounds.slice(surveyRounds).filter((looks) => looks.length > 0)
  if (patience === 0 || explored.length <= patience)
    return patience > 0 && explored.length < rounds.length - surveyRounds
  const worth = (looks: readonly Look[]) =>
    looks.reduce((sum, { score, tokens }) => sum + score - tokenWorth * tokens, 0) / looks.length
  const best = (some: readonly (readonly Look[])[]) => Math.max(...some.map(worth))
  return best(explored.slice(-patience)) <= best(explored.slice(0, -patience))
}

/**
 * Successive halving of random graphs: all of them on a few questions, the better half on twice as many, until the
 * rest are run on all. This finds the best fixed graph as a search without a model would.
 */
function survey(round: number, looks: readonly Look[], options: ValueSearchOptions): Pair[] {
  const { seed, space, traits, evaluations, maxTokens } = options
  const rounds = surveyPlan(traits.length, Math.floor(surveyShare * evaluations))
  const plan = rounds[round]
  if (plan === undefined) return []
  const random = deriveRandom(seed, 'values', 'survey')
  const drawn = [
    AgentGraph.empty,
    ...Array.from({ length: rounds[0]!.candidates - 1 }, () => randomGraph(space, random)),
  ]
  const graphs = [...new Map(drawn.map((graph) => [graphKey(graph), graph])).values()]
  const questions = shuffled(traits.keys(), random)
  let kept = graphs
  for (const [earlier, { questions: count }] of rounds.slice(0, round).entries())
    kept = rankFixed(looks, { among: kept, on: questions.slice(0, count), maxTokens })
      .slice(0, rounds[earlier + 1]!.candidates)
      .map(({ graph }) => graph)
  return kept.flatMap((graph) => questions.slice(0, plan.questions).map((question) => ({ graph, question })))
}

function surveyPlan(questions: number, evaluations: number): HalvingRound[] {
  const rounds = halvingRounds(questions, evaluations, surveyed)
  const each = Math.min(tried, questions)
  return rounds.length > 0
    ? rounds
    : [{ candidates: Math.max(1, Math.floor(evaluations / each)), questions: each }]
}

/** Looks of an exploring round: the rest of the search's share, spread over the remaining rounds. */
function exploringShare(round: number, paid: number, { evaluations }: ValueSearchOptions): number {
  return Math.ceil((evaluations * searchShare - paid) / (surveyRounds + exploreRounds - round))
}

/**
 * Thompson sampling: under weights drawn from the posterior, each question gets the graph that would be best for it,
 * and the graphs that would be best for all, regardless of tokens, are run on a block of questions each. Candidates
 * are the best graphs so far, their neighbours at one or two changes, and some random graphs.
 */
function explore(
  count: number,
  looks: readonly Look[],
  seen: ReadonlySet<string>,
  { tokenWorth, maxTokens = Number.POSITIVE_INFINITY, space, traits }: ValueSearchOptions,
  random: Random,
): Pair[] {
  if (count <= 0) return []
  const model = new ValueModel(traits, looks)
  const rated = rateGraphs(model, model.seen.values())
  const price = worthOfTokens(rated, traits, tokenWorth, maxTokens)
  const favourites = new Set(traits.map((trait) => bestOf(rated, price, trait).graph))
  const average = ({ worth, tokens }: RatedGraph) => worth[0]! - price * tokens
  rated.sort((a, b) => average(b) - average(a))
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

  const forAll = Math.floor((count * forAllShare) / block)
  const forEach = count - forAll * block
  const times = Math.max(draws, Math.ceil(forEach / traits.length))
  const pairs: Pair[] = []
  for (let draw = 0; draw < times; draw += 1) {
    const drawn = rateGraphs(model, candidates.values(), model.weights(random))
    const order = shuffled(traits.keys(), random)
    const fixed = drawn
      .filter(({ tokens }) => tokens <= maxTokens)
      .toSorted((a, b) => b.worth[0]! - a.worth[0]!)
    const isOpen = (graph: SeenGraph, question: number) => !seen.has(pairKey(graph.key, question))
    let wanted = Math.ceil(forAll / times)
    for (const { graph } of fixed) {
      if (wanted === 0) break
      const open = order.filter((question) => isOpen(graph, question)).slice(0, block)
      if (open.length === 0) continue
      wanted -= 1
      pairs.push(...open.map((question) => ({ graph: graph.graph, question })))
    }
    for (const question of order.slice(0, Math.ceil(forEach / times))) {
      const open = drawn.filter(({ graph }) => isOpen(graph, question))
      if (open.length > 0) pairs.push({ graph: bestOf(open, price, traits[question]!).graph.graph, question })
    }
  }
  return pairs
}

/** Runs the graphs that may be the best fixed one, or complement it, on a quarter of the questions; then the best on all. */
function confirm(stage: number, looks: readonly Look[], options: ValueSearchOptions): Pair[] {
  const { evaluations, traits, seed } = options
  const perQuestion = evaluations / traits.length
  const { graphs, questions: share } = confirmed[stage]!
  const order = shuffled(traits.keys(), deriveRandom(seed, 'values', 'confirm'))
  const questions = order.slice(0, Math.ceil(share * traits.length))
  const pool = poolOf(looks, options, Math.max(2, Math.round(graphs * perQuestion)))
  return pool.flatMap((graph) => questions.map((question) => ({ graph, question })))
}

/**
 * Unconfirmed graphs to run: a third are those that seem best for all questions, regardless of tokens; the rest add
 * most to the confirmed ones.
 */
function poolOf(looks: readonly Look[], options: ValueSearchOptions, size: number): AgentGraph[] {
  const { tokenWorth, maxTokens = Number.POSITIVE_INFINITY, traits } = options
  const model = new ValueModel(traits, looks)
  const rated = rateGraphs(model, model.seen.values()).toSorted((a, b) => b.worth[0]! - a.worth[0]!)
  const price = worthOfTokens(rated, traits, tokenWorth, maxTokens)
  const worths = rated.map(({ worth, tokens }) =>
    Float64Array.from(traits, (trait) => worthOn(worth, trait) - price * tokens),
  )
  const [done, open] = [true, false].map((wanted) =>
    [...rated.keys()].filter((index) => isConfirmed(rated[index]!.graph, traits.length) === wanted),
  ) as [number[], number[]]
  const fixed = open.filter((index) => rated[index]!.tokens <= maxTokens).slice(0, Math.ceil(size / 3))
  return coveringPool(worths, done.length + size, [...done, ...fixed])
    .slice(done.length)
    .map((index) => rated[index]!.graph.graph)
}

function pairKey(graph: string, question: number): string {
  return `${graph} ${question}`
}
