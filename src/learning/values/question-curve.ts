import { graphKey } from '../../graph/graph-key.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import { bestOf, isConfirmed, rateThese } from './rated-graphs.ts'
import { type Look, ValueModel } from './value-model.ts'

/** What a choice by fewer questions would have scored on the others. */
export interface CurvePoint {
  readonly questions: number
  /** Mean score on the training questions that were left out. */
  readonly score: number
}

/** Shares of the training questions that are learned from; the rest is for measuring. */
const shares = [1 / 8, 1 / 4, 1 / 2, 3 / 4]
/** Random subsets of each size. */
const subsets = 4

/**
 * How many questions are enough: values are learned from the looks at a part of the training questions, graphs are chosen for the
 * others, and scored by the looks at those. No call is made. Graphs are those that the whole training confirmed, so a
 * training that had seen fewer questions might not have found them. Empty before graphs were confirmed.
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
