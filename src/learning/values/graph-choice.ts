import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { tokenModel } from './token-model.ts'
import { type Look, type SeenGraph, ValueModel, worthOn } from './value-model.ts'

export interface GraphChoice {
  /** Per training question, the graph to build. */
  readonly graphs: readonly AgentGraph[]
  /** The best graph for all of them. */
  readonly fixed: AgentGraph
  /**
   * By how much choosing per question beats one graph for all on questions that are left out of the values in turn: score, less
   * what the tokens are worth. Somewhat too good, since the graphs to choose from were found with these questions. 0 where all
   * get the same graph, `undefined` before graphs were confirmed.
   */
  readonly gain?: number
}

export interface ChoiceOptions {
  readonly tokenWorth: number
  /** Tokens per question at most, on average over the training questions. */
  readonly maxTokens?: number
  /** Per question, its traits; from those by form alone to those that say more. The set that pays is taken. */
  readonly traits: readonly (readonly Float64Array[])[]
}

/** Looks that a graph needs before it is chosen, while none was run on nearly all questions. */
const wellSeen = 10
const nearlyAll = 0.9
const folds = 5

/**
 * Chooses a graph for each training question by what the looks say it is worth there. Once graphs were run on all questions,
 * cross-validation decides which traits to go by, and whether choosing per question pays at all.
 */
export function chooseGraphs(looks: readonly Look[], options: ChoiceOptions): GraphChoice {
  const [byForm] = options.traits
  const questions = byForm!.length
  const model = new ValueModel(byForm!, looks)
  const seen = [...model.seen.values()].toSorted((a, b) => b.looks - a.looks)
  const confirmed = seen.filter((graph) => graph.looks >= nearlyAll * questions)
  if (confirmed.length < 2) {
    const known = seen.filter(({ looks }) => looks >= Math.min(wellSeen, questions / 2))
    return choiceFrom(model, known.length === 0 ? seen.slice(0, 1) : known, byForm!, options)
  }
  const tried = options.traits.map((traits) => ({ traits, gain: gainOf(looks, confirmed, traits, options) }))
  const best = tried.reduce((best, one) => (one.gain > best.gain ? one : best))
  if (best.gain > 0) {
    const own = new ValueModel(best.traits, looks)
    return {
      ...choiceFrom(
        own,
        confirmed.map(({ graph }) => own.describe(graph)),
        best.traits,
        options,
      ),
      gain: best.gain,
    }
  }
  // The mean question: what keeps to the tokens allowed must be one graph.
  const { fixed } = choiceFrom(model, confirmed, [new Float64Array(byForm![0]!.length)], options)
  return { graphs: byForm!.map(() => fixed), fixed, gain: 0 }
}

/** The graphs that were run on nearly all questions. */
export function confirmedGraphs(looks: readonly Look[], traits: readonly Float64Array[]): AgentGraph[] {
  const counts = Map.groupBy(looks, ({ graph }) => graphKey(graph))
  return [...counts.values()]
    .filter(({ length }) => length >= nearlyAll * traits.length)
    .map(([look]) => look!.graph)
}

/** The choice between some graphs that these looks suggest, for a question with any traits. */
export function chooserOf(
  looks: readonly Look[],
  graphs: readonly AgentGraph[],
  traits: readonly Float64Array[],
  tokenWorth: number,
): (trait: Float64Array) => AgentGraph {
  const model = new ValueModel(traits, looks)
  const rated = rate(
    model,
    graphs.map((graph) => model.describe(graph)),
  )
  return (trait) => bestOf(rated, tokenWorth, trait).graph.graph
}

function choiceFrom(
  model: ValueModel,
  graphs: readonly SeenGraph[],
  traits: readonly Float64Array[],
  options: ChoiceOptions,
): GraphChoice {
  const rated = rate(model, graphs)
  const worth = worthOfTokens(rated, traits, options)
  return {
    graphs: traits.map((trait) => bestOf(rated, worth, trait).graph.graph),
    fixed: bestOf(rated, worth).graph.graph,
  }
}

interface Rated {
  readonly graph: SeenGraph
  readonly worth: Float64Array
  readonly tokens: number
}

function rate(model: ValueModel, graphs: readonly SeenGraph[]): Rated[] {
  const weights = model.weights()
  const tokens = tokenModel(model)
  return graphs.map((graph) => ({ graph, worth: model.worth(weights, graph), tokens: tokens(graph) }))
}

/** The best graph for a question with these traits, or for all questions. */
function bestOf(rated: readonly Rated[], tokenWorth: number, traits?: Float64Array): Rated {
  const value = ({ worth, tokens }: Rated) =>
    (traits === undefined ? worth[0]! : worthOn(worth, traits)) - tokenWorth * tokens
  return rated.reduce((best, one) => (value(one) > value(best) ? one : best))
}

/** The given worth of a token, or the least larger one at which the chosen graphs keep to the tokens allowed. */
function worthOfTokens(
  rated: readonly Rated[],
  traits: readonly Float64Array[],
  { tokenWorth, maxTokens = Number.POSITIVE_INFINITY }: ChoiceOptions,
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

/** How much choosing by these traits gains over one graph for all, on questions that are left out in turn. */
function gainOf(
  looks: readonly Look[],
  graphs: readonly SeenGraph[],
  traits: readonly Float64Array[],
  options: ChoiceOptions,
): number {
  const scores = new Map(looks.map(({ graph, question, score }) => [`${graphKey(graph)} ${question}`, score]))
  const place = shuffled(traits.keys(), deriveRandom('folds'))
  const foldOf = new Map(place.map((question, index) => [question, index % folds]))
  let gain = 0
  for (let fold = 0; fold < folds; fold += 1) {
    const others = looks.filter(({ question }) => foldOf.get(question) !== fold)
    const model = new ValueModel(traits, others)
    const rated = rate(
      model,
      graphs.map(({ graph }) => model.describe(graph)),
    )
    const worth = worthOfTokens(rated, traits, options)
    const fixed = bestOf(rated, worth)
    for (const question of place.filter((one) => foldOf.get(one) === fold)) {
      const chosen = bestOf(rated, worth, traits[question]!)
      const [own, other] = [chosen, fixed].map(({ graph }) => scores.get(`${graph.key} ${question}`))
      if (own === undefined || other === undefined) continue
      gain += (own - other - worth * (chosen.tokens - fixed.tokens)) / traits.length
    }
  }
  return gain
}
