import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { bestOf, isConfirmed, type RatedGraph, rateGraphs, rateThese, worthOfTokens } from './rated-graphs.ts'
import { type Look, ValueModel } from './value-model.ts'

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

/** A way to choose: one graph for all, or by one of the sets of traits, with tokens at this price. */
export interface ChoiceRule {
  readonly fixed: AgentGraph
  readonly byQuestion?: {
    readonly set: number
    readonly rated: readonly RatedGraph[]
    readonly price: number
  }
  readonly gain?: number
}

/** Looks that a graph needs before it is chosen, while none was run on nearly all questions. */
const wellSeen = 10
const folds = 5
/** Prices of tokens that are tried, as shares of what they are worth: where saving costs too much score, less is saved. */
const prices = [1, 0.5, 0.25] as const
/** The price of tokens among fixed graphs: the best of them is what nothing may score less than, so score counts more. */
const fixedPrice = 0.25
/** Standard errors by which choosing per question must score more than the best fixed graph. */
const margin = 1

/** Chooses a graph for each training question by what the looks, round by round, say it is worth there. */
export function chooseGraphs(rounds: readonly (readonly Look[])[], options: ChoiceOptions): GraphChoice {
  const { fixed, byQuestion, gain } = choiceRule(rounds, options)
  const graphs = options.traits[byQuestion?.set ?? 0]!.map((trait) =>
    byQuestion === undefined ? fixed : bestOf(byQuestion.rated, byQuestion.price, trait).graph.graph,
  )
  return { graphs, fixed, gain }
}

/**
 * The best fixed graph, and a choice per question only where that surely pays: on questions that are left out in turn it must score
 * more than the best fixed graph of the others by a standard error. What tokens are worth decides between the choices that do.
 */
export function choiceRule(rounds: readonly (readonly Look[])[], options: ChoiceOptions): ChoiceRule {
  const { traits, tokenWorth, maxTokens } = options
  const looks = rounds.flat()
  const model = new ValueModel(traits[0]!, looks)
  const rated = rateGraphs(model, model.seen.values())
  const confirmed = rated.filter(({ graph }) => isConfirmed(graph, traits[0]!.length))
  if (confirmed.length < 2)
    return { fixed: bestFixed(oftenSeen(rated, traits[0]!.length), options).graph.graph }
  const fixed = bestFixed(confirmed, options).graph.graph
  const graphs = confirmed.map(({ graph }) => graph.graph)
  const [best] = traits
    .flatMap((_, set) => leftOut(rounds, graphs, set, options))
    .filter(({ score, error }) => score > 0 && score >= margin * error)
    .map((rule) => ({ ...rule, gain: rule.score - tokenWorth * rule.tokens }))
    .toSorted((a, b) => b.gain - a.gain)
  if (best === undefined || best.gain <= 0) return { fixed, gain: 0 }
  const byTraits = traits[best.set]!
  const chosen = rateThese(graphs, byTraits, looks)
  const price = worthOfTokens(chosen, byTraits, best.share * tokenWorth, maxTokens)
  return { fixed, byQuestion: { set: best.set, rated: chosen, price }, gain: best.gain }
}

/** The graph with the best score for all questions, out of those that keep to the tokens allowed; the cheapest if none does. */
function bestFixed(
  rated: readonly RatedGraph[],
  { tokenWorth, maxTokens = Number.POSITIVE_INFINITY }: ChoiceOptions,
): RatedGraph {
  const allowed = rated.filter(({ tokens }) => tokens <= maxTokens)
  return allowed.length > 0
    ? bestOf(allowed, fixedPrice * tokenWorth)
    : rated.reduce((a, b) => (b.tokens < a.tokens ? b : a))
}

/** While no two graphs were run on all questions: those that were seen often, or else the one that was most. */
function oftenSeen(rated: readonly RatedGraph[], questions: number): RatedGraph[] {
  const often = rated.filter(({ graph }) => graph.looks >= Math.min(wellSeen, questions / 2))
  return often.length > 0 ? often : rated.toSorted((a, b) => b.graph.looks - a.graph.looks).slice(0, 1)
}

interface Tried {
  readonly set: number
  readonly share: number
  /** More than the best fixed graph, on average, with the standard error of that. */
  readonly score: number
  readonly error: number
  readonly tokens: number
}

/**
 * How choosing by these traits does beside one graph for all, on questions that are left out in turn, for each price of tokens. Of a
 * chosen graph only the looks of its last round count: by the earlier ones it was found, so they are too good.
 */
function leftOut(
  rounds: readonly (readonly Look[])[],
  graphs: readonly AgentGraph[],
  set: number,
  options: ChoiceOptions,
): Tried[] {
  const { tokenWorth, maxTokens } = options
  const traits = options.traits[set]!
  const looks = rounds.flat()
  const seen = new Map(looks.map((look) => [`${graphKey(look.graph)} ${look.question}`, look]))
  const lastRound = new Map(
    rounds.flatMap((round, at) => round.map(({ graph }) => [graphKey(graph), at] as const)),
  )
  const fresh = new Set(
    rounds.flatMap((round, at) => round.filter(({ graph }) => lastRound.get(graphKey(graph)) === at)),
  )
  const place = shuffled(traits.keys(), deriveRandom('folds'))
  const differences: { score: number; tokens: number }[][] = prices.map(() => [])
  for (let fold = 0; fold < folds; fold += 1) {
    const inFold = new Set(place.filter((_, index) => index % folds === fold))
    if (inFold.size === 0) continue
    const others = looks.filter(({ question }) => !inFold.has(question))
    const rated = rateThese(graphs, traits, others)
    const fixed = bestFixed(rated, options).graph.key
    for (const [index, share] of prices.entries()) {
      const price = worthOfTokens(rated, traits, share * tokenWorth, maxTokens)
      for (const question of inFold) {
        const { key } = bestOf(rated, price, traits[question]!).graph
        const chosen = seen.get(`${key} ${question}`)
        const other = seen.get(`${fixed} ${question}`)
        if (chosen === undefined || other === undefined || (key !== fixed && !fresh.has(chosen))) continue
        differences[index]!.push({ score: chosen.score - other.score, tokens: chosen.tokens - other.tokens })
      }
    }
  }
  return prices.map((share, index) => {
    const made = differences[index]!
    const mean = (of: (one: (typeof made)[number]) => number) =>
      made.reduce((sum, one) => sum + of(one), 0) / Math.max(1, made.length)
    const score = mean((one) => one.score)
    const variance = mean((one) => (one.score - score) ** 2)
    const error = Math.sqrt(variance / Math.max(1, made.length - 1))
    return { set, share, score, error, tokens: mean((one) => one.tokens) }
  })
}
