import type { Restriction } from '../graph/legality.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, constructGraphs } from './construction.ts'
import type { ConstructionPolicy } from './policy.ts'

/** A graph to build for use, in a form that can be sent to a thread. */
export interface GraphOrder {
  readonly query: ArrayLike<number>
  readonly restriction: Restriction
  readonly temperature: number
  /** The arguments of `deriveRandom`. Without them the most probable choices are taken. */
  readonly draws?: Parameters<typeof deriveRandom>
}

/** Builds a graph without dropout. Rejects if the order does not fit the policy. */
export type GraphBuilder = (order: GraphOrder) => Promise<Construction>

/** A larger batch would delay other work in this thread for longer than it saves. */
const largestBatch = 16

/**
 * Builds graphs requested at about the same time in one batch, which takes a fraction of the time. The results are
 * the same as when built one by one.
 */
export function constructionBatch(policy: ConstructionPolicy): GraphBuilder {
  const waiting: (PromiseWithResolvers<Construction> & { readonly order: GraphOrder })[] = []
  const build = () => {
    const batch = waiting.splice(0, largestBatch)
    if (waiting.length > 0) setImmediate(build)
    try {
      const jobs = batch.map(({ order }) => jobOf(order))
      for (const [place, built] of constructGraphs(policy, jobs).entries()) batch[place]!.resolve(built)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  return (order) => {
    const asked = { order, ...Promise.withResolvers<Construction>() }
    if (waiting.push(asked) === 1) setImmediate(build)
    return asked.promise
  }
}

function jobOf({ draws, ...order }: GraphOrder) {
  return { ...order, random: draws && deriveRandom(...draws), dropout: false }
}
