import { performance } from 'node:perf_hooks'
import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import { deriveRandom } from '../../src/numerics/random.ts'
import type { Organiser } from '../../src/organisations/organisation.ts'
import { conditionalRightRoles } from './conditional-roles.ts'
import { type LearningMethod, ours, paper, searched, untrained } from './methods.ts'
import { LearningWorld, Purse, type WorldSizes } from './world.ts'

export interface SeedJob {
  readonly seed: number
  readonly sizes: WorldSizes
  /** Paid evaluations per training. */
  readonly evaluations: number
  /** Updates in the noise-free world; absent to skip it. */
  readonly conditionalUpdates?: number
}

/** One line of the results. Scores are in the order of the held-out questions. */
export interface SeedResult {
  readonly seed: number
  readonly part: string
  readonly scores: readonly number[]
  /** Mean per held-out question. */
  readonly tokens: number
  /** Paid evaluations on training questions. */
  readonly spent: number
  readonly seconds: number
}

/** Shares of the evaluations, to find how few reach the paper's final score. */
export const budgetShares = [0.05, 0.2] as const

/** Token prices, as multiples of the default, to find how few tokens reach the searched graph's score. */
export const tokenWorths = [2, 4] as const

export const partOf = {
  share: (share: number) => `ours, ${share} of the evaluations`,
  worth: (worth: number) => `ours, tokens worth ${worth} times as much`,
  shuffled: 'ours, shuffled',
  conditional: 'conditional',
}

/** All parts of a seed that are not known yet, each as soon as it is done. */
export async function* examineSeed(job: SeedJob, known: ReadonlySet<string>): AsyncGenerator<SeedResult> {
  const { seed, sizes, evaluations, conditionalUpdates } = job
  if (conditionalUpdates !== undefined && !known.has(partOf.conditional)) {
    const start = performance.now()
    const scores = await conditionalRightRoles(seed, conditionalUpdates)
    const seconds = (performance.now() - start) / 1000
    yield { seed, part: partOf.conditional, scores, tokens: 0, spent: 0, seconds }
  }
  const world = await LearningWorld.open(seed, sizes)
  const examine = async function* (part: string, method: LearningMethod, share = 1, worth = 1) {
    const alsoShuffled = method === ours && share === 1 && worth === 1
    if (known.has(part) && (!alsoShuffled || known.has(partOf.shuffled))) return
    const start = performance.now()
    const purse = new Purse(world, Math.round(evaluations * share))
    const graphs = await graphsOf(await method.train(world, purse, worth), world)
    const resultOf = async (name: string, built: readonly AgentGraph[]): Promise<SeedResult> => {
      const { scores, tokens } = await held(built, world)
      return {
        seed,
        part: name,
        scores,
        tokens,
        spent: purse.spent,
        seconds: (performance.now() - start) / 1000,
      }
    }
    if (!known.has(part)) yield resultOf(part, graphs)
    if (alsoShuffled) yield resultOf(partOf.shuffled, exchanged(graphs, seed))
  }
  for (const method of [untrained, paper, searched, ours]) yield* examine(method.name, method)
  for (const share of budgetShares) yield* examine(partOf.share(share), ours, share)
  for (const worth of tokenWorths) yield* examine(partOf.worth(worth), ours, 1, worth)
}

async function graphsOf(organisation: Organiser, { heldOut }: LearningWorld): Promise<AgentGraph[]> {
  const graphs: AgentGraph[] = []
  for (const task of heldOut) graphs.push(await organisation.graphFor(task))
  return graphs
}

async function held(graphs: readonly AgentGraph[], world: LearningWorld) {
  const outcomes = await Promise.all(
    world.heldOut.map((task, index) => world.outcome(graphs[index]!, task, 'test')),
  )
  const tokens = outcomes.reduce((sum, outcome) => sum + outcome.tokens, 0) / outcomes.length
  return { scores: outcomes.map(({ score }) => score), tokens }
}

/** Gives every question the graph of another: all move one place along a random cycle. */
function exchanged(graphs: readonly AgentGraph[], seed: number): AgentGraph[] {
  const random = deriveRandom(seed, 'exchanged graphs')
  const round = [...graphs.keys()].map((index) => ({ index, key: random.uniform() }))
  round.sort((a, b) => a.key - b.key)
  const exchangedGraphs = [...graphs]
  for (const [place, { index }] of round.entries())
    exchangedGraphs[index] = graphs[round[(place + 1) % round.length]!.index]!
  return exchangedGraphs
}
