import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { bestOf, isConfirmed, type RatedGraph, rateGraphs, rateThese, worthOfTokens } from './rated-graphs.ts'
import { traitBenefit } from './trait-benefit.ts'
import { type Look, ValueModel, worthOn } from './value-model.ts'

export interface GraphChoice {
  /** The graph to build for each training question. */
  readonly graphs: readonly AgentGraph[]
  /** The best single graph for all of them. */
  readonly fixed: AgentGraph
  /**
   * How much choosing per question gains over one graph for all, in score minus the worth of tokens, by
   * cross-validation over the questions. Slightly optimistic, since the graphs to choose from were found with these
   * questions. 0 if all get the same graph; undefined if not determined yet.
   */
  readonly gain?: number
}

export interface ChoiceOptions {
  readonly tokenWorth: number
  /** Upper limit on the mean tokens per training question. */
  readonly maxTokens?: number
  /** Sets of question traits, from form alone to more informative ones. The set that predicts best is used. */
  readonly traits: readonly (readonly Float64Array[])[]
  /** Give all questions the best fixed graph. Deciding whether to choose per question is slow and only matters at the end. */
  readonly fixedOnly?: boolean
}

/** How to choose: one graph for all, or per question by one set of traits, with tokens at a price. */
export interface ChoiceRule {
  readonly fixed: AgentGraph
  readonly byQuestion?: {
    readonly set: number
    readonly rated: readonly RatedGraph[]
    readonly price: number
  }
  readonly gain?: number
}

/** Looks a graph needs to be chosen while none has been run on nearly all questions. */
const wellSeen = 10
const folds = 5
/** Traits must improve predictions on left-out questions by this many standard errors. */
const margin = 2
/** Token prices to try, as shares of `tokenWorth`: where saving tokens costs too much score, less is saved. */
const prices = [1, 0.5, 0.25, 0] as const
/** Saving tokens may cost at most as much score as this many tokens are worth. */
const mostSaved = 1000
/**
 * Token price when choosing the fixed graph, as a share of `tokenWorth`. It is low because the fixed graph is the bar
 * that nothing may score below.
 */
const fixedPrice = 0.25

/** Chooses a graph for each training question by its estimated worth there. */
export function chooseGraphs(looks: readonly Look[], options: ChoiceOptions): GraphChoice {
  const { fixed, byQuestion, gain } = choiceRule(looks, options)
  const graphs = options.traits[byQuestion?.set ?? 0]!.map((trait) =>
    byQuestion === undefined ? fixed : bestOf(byQuestion.rated, byQuestion.price, trait).graph.graph,
  )
  return { graphs, fixed, gain }
}

/**
 * The best fixed graph, plus a choice per question only if that clearly pays: the traits must help predict scores on
 * left-out questions, and the choice must be expected to score more than the best fixed graph.
 */
export function choiceRule(looks: readonly Look[], options: ChoiceOptions): ChoiceRule {
  const { traits } = options
  const model = new ValueModel(traits[0]!, looks)
  const rated = rateGraphs(model, model.seen.values())
  const confirmed = rated.filter(({ graph }) => isConfirmed(graph, traits[0]!.length))
  if (confirmed.length < 2)
    return { fixed: bestFixed(oftenSeen(rated, traits[0]!.length), options).graph.graph }
  const graphs = confirmed.map(({ graph }) => graph.graph)
  const fixed = bestFixed(confirmed, options)
  if (options.fixedOnly) return { fixed: fixed.graph.graph }
  const left = folded(traits[0]!.length)
  const [telling] = traits
    .map((own, set) => ({ set, ...traitBenefit(looks, own, left) }))
    .filter(({ better, error }) => better > 0 && better >= margin * error)
    .toSorted((a, b) => b.better - a.better)
  if (telling === undefined) return { fixed: fixed.graph.graph, gain: 0 }
  const own = traits[telling.set]!
  const choices = rateThese(graphs, own, looks)
  const price = priceOf(choices, own, options)
  const base = choices.find(({ graph }) => graph.key === fixed.graph.key)!
  if (scoreAt(choices, own, price) <= scoreAt([base], own, 0)) return { fixed: fixed.graph.graph, gain: 0 }
  const gain = gainOf(looks, graphs, own, left, price, options)
  return { fixed: fixed.graph.graph, byQuestion: { set: telling.set, rated: choices, price }, gain }
}

/** The highest token price that stays within the allowed loss of score; higher if `maxTokens` requires it. */
function priceOf(
  choices: readonly RatedGraph[],
  traits: readonly Float64Array[],
  { tokenWorth, maxTokens }: ChoiceOptions,
): number {
  const leastScore = scoreAt(choices, traits, 0) - mostSaved * tokenWorth
  const share = prices.find((share) => scoreAt(choices, traits, share * tokenWorth) >= leastScore)!
  return worthOfTokens(choices, traits, share * tokenWorth, maxTokens)
}

/** The expected mean score of each question's best graph at this token price. */
function scoreAt(rated: readonly RatedGraph[], traits: readonly Float64Array[], price: number): number {
  return (
    traits.reduce((sum, trait) => sum + worthOn(bestOf(rated, price, trait).worth, trait), 0) / traits.length
  )
}

/** The best graph for all questions within the token limit; the cheapest if none keeps it. */
function bestFixed(
  rated: readonly RatedGraph[],
  { tokenWorth, maxTokens = Number.POSITIVE_INFINITY }: ChoiceOptions,
): RatedGraph {
  const allowed = rated.filter(({ tokens }) => tokens <= maxTokens)
  return allowed.length > 0
    ? bestOf(allowed, fixedPrice * tokenWorth)
    : rated.reduce((a, b) => (b.tokens < a.tokens ? b : a))
}

/** Used until two graphs are confirmed: graphs run often enough, or else the one run most often. */
function oftenSeen(rated: readonly RatedGraph[], questions: number): RatedGraph[] {
  const often = rated.filter(({ graph }) => graph.looks >= Math.min(wellSeen, questions / 2))
  return often.length > 0 ? often : rated.toSorted((a, b) => b.graph.looks - a.graph.looks).slice(0, 1)
}

/** Splits the questions into random folds, each left out in turn. */
function folded(questions: number): ReadonlySet<number>[] {
  const order = shuffled(Array(questions).keys(), deriveRandom('folds'))
  return Array.from(
    { length: Math.min(folds, questions) },
    (_, fold) => new Set(order.filter((_, place) => place % folds === fold)),
  )
}

/** The gain of choosing by these traits over one graph for all, by cross-validation. */
function gainOf(
  looks: readonly Look[],
  graphs: readonly AgentGraph[],
  traits: readonly Float64Array[],
  left: readonly ReadonlySet<number>[],
  price: number,
  options: ChoiceOptions,
): number {
  const seen = new Map(looks.map((look) => [`${graphKey(look.graph)} ${look.question}`, look]))
  let gain = 0
  for (const questions of left) {
    const rated = rateThese(
      graphs,
      traits,
      looks.filter(({ question }) => !questions.has(question)),
    )
    const fixed = bestFixed(rated, options)
    for (const question of questions) {
      const [own, other] = [bestOf(rated, price, traits[question]!), fixed].map(({ graph }) =>
        seen.get(`${graph.key} ${question}`),
      )
      if (own === undefined || other === undefined) continue
      gain += (own.score - other.score - options.tokenWorth * (own.tokens - other.tokens)) / traits.length
    }
  }
  return gain
}
