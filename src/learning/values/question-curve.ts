import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { bestOf, isConfirmed, rateThese } from './rated-graphs.ts'
import { type Look, ValueModel } from './value-model.ts'

/** What a choice learned from fewer questions would have scored on the rest. */
export interface CurvePoint {
  readonly questions: number
  /** Mean score on the training questions that were left out. */
  readonly score: number
}

/** Shares of the training questions to learn from; the rest measures. */
const shares = [1 / 8, 1 / 4, 1 / 2, 3 / 4]
/** Random subsets of each size. */
const subsets = 4

/**
 * Shows how many questions are enough: values learned from part of the training questions choose graphs for the
 * others, whose recorded scores count. Makes no calls. Graphs are those the whole training confirmed, so a training
 * with fewer questions might not have found them. Empty until graphs are confirmed.
 */
export function questionCurve(
  looks: readonly Look[],
  traits: readonly Float64Array[],
  tokenWorth: number,
): CurvePoint[] {
  const { seen } = new ValueModel(traits, looks)
  const confirmed = [...seen.values()].filter((graph) => isConfirmed(graph, traits.length))
  if (confirmed.length < 2) return []
  const scores = new Map(looks.map(({ graph, question, score }) => [`${graphKey(graph)} ${question}`, score]))
  return shares.flatMap((share) => {
    const count = Math.round(share * traits.length)
    if (count < 2) return []
    let sum = 0
    let scored = 0
    for (let subset = 0; subset < subsets; subset += 1) {
      const order = shuffled(traits.keys(), deriveRandom('question curve', count, subset))
      const own = new Set(order.slice(0, count))
      const rated = rateThese(
        confirmed.map(({ graph }) => graph),
        traits,
        looks.filter(({ question }) => own.has(question)),
      )
      for (const question of order.slice(count)) {
        const score = scores.get(`${bestOf(rated, tokenWorth, traits[question]!).graph.key} ${question}`)
        if (score === undefined) continue
        sum += score
        scored += 1
      }
    }
    return scored === 0 ? [] : [{ questions: count, score: sum / scored }]
  })
}
