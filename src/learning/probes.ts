import { hash } from 'node:crypto'

export interface ProbeSelection {
  /** The experiment's seed. */
  readonly seed: number
  /** The id of the query being trained on, which is never its own probe. */
  readonly query: string
  /** The index of the update, from 0. */
  readonly update: number
  /** A version of the data's content, so that different data under the same ids gets a different order. */
  readonly dataVersion: string
  /** Ids of the training tasks, in any order. */
  readonly pool: Iterable<string>
  /** How many probes to take. A smaller pool is used up entirely. */
  readonly count: number
}

/**
 * The probe set of one update: the first tasks of the pool, ordered by a hash of (seed, query, update, data version,
 * candidate). No task occurs twice. The pool's order and the contents of the ledger have no influence.
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
