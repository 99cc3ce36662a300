import { addCosts, type Cost, costOf, type Price } from '../models/prices.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import type { NodeRun } from './node.ts'

/** What an execution used and what that cost, summed over all attempts of all calls. */
export function tallyOf(
  runs: readonly NodeRun[],
  price: Price | undefined,
): { usage: Usage; reused: Usage; cost: Cost } {
  let usage = noUsage
  let reused = noUsage
  let cost: Cost = price === undefined ? 'unpriced' : { amount: 0, currency: price.currency }
  for (const { call, reused: isReused } of runs.flatMap(({ calls }) => calls)) {
    const { reply, attempts } = call
    // A rejection counts as a call whoever made it, so that usage does not depend on which execution came first.
    if (isReused && (reply.ok || reply.kind === 'rejected'))
      reused = addUsage(reused, { ...noUsage, ...reply.usage, calls: 1 })
    usage = addUsage(usage, call.usage)
    // By the attempt, since a price may depend on the hour.
    for (const { reply: said, startedAt } of attempts)
      if (said.usage !== undefined) cost = addCosts(cost, costOf(said.usage, price, new Date(startedAt)))
  }
  return { usage, reused, cost }
}
