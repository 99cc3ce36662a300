import type { AgentGraph } from '../../graph/agent-graph.ts'
import { tokenModel } from './token-model.ts'
import { type Look, type SeenGraph, ValueModel, type Weights, worthOn } from './value-model.ts'

/** A graph with its estimated worth (on average and by question trait) and its expected tokens. */
export interface RatedGraph {
  readonly graph: SeenGraph
  readonly worth: Float64Array
  readonly tokens: number
}

export function rateGraphs(
  model: ValueModel,
  graphs: Iterable<SeenGraph>,
  weights: Weights = model.weights(),
): RatedGraph[] {
  const tokens = tokenModel(model)
  return Array.from(graphs, (graph) => ({ graph, worth: model.worth(weights, graph), tokens: tokens(graph) }))
}

/** Rates the given graphs by these looks and question traits. */
export function rateThese(
  graphs: readonly AgentGraph[],
  traits: readonly Float64Array[],
  looks: readonly Look[],
): RatedGraph[] {
  const model = new ValueModel(traits, looks)
  return rateGraphs(
    model,
    graphs.map((graph) => model.describe(graph)),
  )
}

/** Whether a graph has been run on nearly all questions. */
export function isConfirmed({ looks }: SeenGraph, questions: number): boolean {
  return looks >= 0.9 * questions
}

/** The best graph for a question with these traits, or for all questions. */
export function bestOf(
  rated: readonly RatedGraph[],
  tokenWorth: number,
  traits: Float64Array = noTraits,
): RatedGraph {
  let best = rated[0]!
  let most = Number.NEGATIVE_INFINITY
  for (const one of rated) {
    const value = worthOn(one.worth, traits) - tokenWorth * one.tokens
    if (value <= most) continue
    most = value
    best = one
  }
  return best
}

/** Traits have mean 0, so without traits a worth is that on the average question. */
const noTraits = new Float64Array(0)

/**
 * The given worth of a token, or the smallest larger one at which each question's best graph keeps the mean within
 * `maxTokens`.
 */
export function worthOfTokens(
  rated: readonly RatedGraph[],
  traits: readonly Float64Array[],
  tokenWorth: number,
  maxTokens = Number.POSITIVE_INFINITY,
): number {
  const tokensAt = (worth: number) =>
    traits.reduce((sum, trait) => sum + bestOf(rated, worth, trait).tokens, 0) / traits.length
  if (tokensAt(tokenWorth) <= maxTokens) return tokenWorth
  let [low, high] = [tokenWorth, Math.max(tokenWorth, 1e-6)]
  while (tokensAt(high) > maxTokens && high < 1) high *= 2
  for (let step = 0; step < 20; step += 1) {
    const middle = (low + high) / 2
    if (tokensAt(middle) > maxTokens) low = middle
    else high = middle
  }
  return high
}
