import { hash } from 'node:crypto'

export interface ProbeSelection {
  /** The experiment's seed. */
  readonly seed: number
  /** The id of the query in training, which is never its own probe. */
  readonly query: string
  /** The index of the update, from 0. */
  readonly update: number
  /** A version of the data's content, so that other data with the same ids gets another order. */
  readonly dataVersion: string
  /** Ids of the training tasks, in any order. */
  readonly pool: Iterable<string>
  /** How many probes to take; a smaller pool gives all that it has, an empty one none. */
  readonly count: number
}

/**
 * The probe set of one update: the first tasks of the pool in the order of a hash of (seed, query, update, data
 * version, candidate). No task occurs twice. Nothing else decides, neither the pool's order nor what the ledger
 * already holds.
 */
export function selectProbes(selection: ProbeSelection): string[] {
  const { seed, query, update, dataVersion, pool, count } = selection
  const candidates = new Set(pool)
  candidates.delete(query)
  return [...candidates]
    .map((id) => ({ id, key: hash('sha256', JSON.stringify([seed, query, update, dataVersion, id])) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
}
