import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { bestOf, isConfirmed, type RatedGraph, rateGraphs, rateThese, worthOfTokens } from './rated-graphs.ts'
import { foretold } from './told-by-traits.ts'
import { type Look, ValueModel, worthOn } from './value-model.ts'

export interface GraphChoice {
  /** Per training question, the graph to build. */
  readonly graphs: readonly AgentGraph[]
  /** The best graph for all of them. */
  readonly fixed: AgentGraph
  /**
   * By how much choosing per question beats one graph for all on questions that are left out of the values in turn: score, less
   * what the tokens are worth. Somewhat too good, since the graphs to choose from were found with these questions. 0 where all
   * get the same graph, `undefined` before that was found out.
   */
  readonly gain?: number
}

export interface ChoiceOptions {
  readonly tokenWorth: number
  /** Tokens per question at most, on average over the training questions. */
  readonly maxTokens?: number
  /** Per question, its traits; from those by form alone to those that say more. The set that tells most is taken. */
  readonly traits: readonly (readonly Float64Array[])[]
  /** All get the best fixed graph. Whether to choose per question takes time to find out, and matters at the end. */
  readonly fixedOnly?: boolean
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
/** Standard errors by which traits of the questions must make scores on left-out questions better foretold. */
const margin = 2
/** Prices of tokens that are tried, as shares of what they are worth: where saving costs too much score, less is saved. */
const prices = [1, 0.5, 0.25, 0] as const
/** The most that saving tokens may cost in all: the score that so many tokens are worth. */
const mostSaved = 1000
/** The price of tokens among fixed graphs: the best of them is what nothing may score less than, so score counts more. */
const fixedPrice = 0.25

/** Chooses a graph for each training question by what the looks say it is worth there. */
export function chooseGraphs(looks: readonly Look[], options: ChoiceOptions): GraphChoice {
  const { fixed, byQuestion, gain } = choiceRule(looks, options)
  const graphs = options.traits[byQuestion?.set ?? 0]!.map((trait) =>
    byQuestion === undefined ? fixed : bestOf(byQuestion.rated, byQuestion.price, trait).graph.graph,
  )
  return { graphs, fixed, gain }
}

/**
 * The best fixed graph, and a choice per question only where that surely pays: traits of the questions must help to foretell
 * scores on questions that are left out, and the choice must be expected to score more than the best fixed graph.
 */
export function choiceRule(looks: readonly Look[], options: ChoiceOptions): ChoiceRule {
  const { traits, tokenWorth } = options
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
    .map((own, set) => ({ set, ...foretold(looks, own, left) }))
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

  /** The highest price at which saving tokens costs no more score than it may; higher where a limit on tokens asks for it. */
  function priceOf(
    choices: readonly RatedGraph[],
    own: readonly Float64Array[],
    { maxTokens }: ChoiceOptions,
  ) {
    const dearest = scoreAt(choices, own, 0)
    const share = prices.find(
      (share) => scoreAt(choices, own, share * tokenWorth) >= dearest - mostSaved * tokenWorth,
    )!
    return worthOfTokens(choices, own, share * tokenWorth, maxTokens)
  }
}

/** What the best graphs of the questions are expected to score with tokens at this price. */
function scoreAt(rated: readonly RatedGraph[], traits: readonly Float64Array[], price: number): number {
  return (
    traits.reduce((sum, trait) => sum + worthOn(bestOf(rated, price, trait).worth, trait), 0) / traits.length
  )
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

/** The questions in random parts, each to be left out in turn. */
function folded(questions: number): ReadonlySet<number>[] {
  const order = shuffled(Array(questions).keys(), deriveRandom('folds'))
  return Array.from(
    { length: Math.min(folds, questions) },
    (_, fold) => new Set(order.filter((_, place) => place % folds === fold)),
  )
}

/** How much choosing by these traits gains over one graph for all, on questions that are left out in turn. */
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
