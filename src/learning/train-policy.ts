import type { Restriction } from '../graph/legality.ts'
import type { PolicyLearner } from './policy-learner.ts'
import { paperTemperature, type TemperatureSchedule, temperatureAt } from './temperature.ts'
import { type TrainedUpdate, type UpdateOptions, updateOnQuery } from './update.ts'

export interface TrainPolicyOptions
  extends Pick<UpdateOptions, 'seed' | 'dataVersion' | 'rewards' | 'evaluate'> {
  /** The training queries in the order in which they are learned from. */
  readonly queries: readonly UpdateOptions['query'][]
  /** Passes over the queries; 1 in the paper. */
  readonly passes?: number
  /** Updates at most; one per query and pass unless given. */
  readonly updates?: number
  /** K, per query; 2 in the paper. */
  readonly trajectories?: number
  /** Other training queries that partial graphs are run on; 4 in the paper. */
  readonly probes?: number
  /** From 1.2 to 1.0 over the run's own number of updates unless given. */
  readonly temperature?: TemperatureSchedule
  readonly restriction?: Restriction
  /** Updates that were already done, when a run is resumed. */
  readonly done?: number
  /** Called after each update, before the next one starts: the place to write a checkpoint. */
  readonly onUpdate?: (update: FinishedUpdate) => void | Promise<void>
  /** Ends the training after the current update. */
  readonly signal?: AbortSignal
}

export interface FinishedUpdate extends TrainedUpdate {
  /** Counted from 0. */
  readonly update: number
  readonly query: string
  readonly temperature: number
}

/**
 * One update per query, in order. An update depends only on the weights, the optimizer's moments, its number and the seed,
 * so a run that is resumed from what `onUpdate` kept ends with identical weights. Returns the number of updates done so
 * far; fewer than planned means that it was interrupted.
 */
export async function trainPolicy(learner: PolicyLearner, options: TrainPolicyOptions): Promise<number> {
  const { seed, dataVersion, rewards, evaluate, queries, onUpdate, signal } = options
  const { passes = 1, trajectories = 2, probes = 4, restriction = 'mixed', done = 0 } = options
  const pool = queries.map(({ id }) => id)
  if (new Set(pool).size !== pool.length) throw new RangeError('Two training queries have the same id.')
  const fixed = { seed, dataVersion, rewards, evaluate, trajectories, probes, restriction, pool }
  const updates = Math.min(queries.length * passes, options.updates ?? Number.POSITIVE_INFINITY)
  const schedule = options.temperature ?? { ...paperTemperature, updates: Math.max(1, updates) }
  for (let update = done; update < updates; update += 1) {
    if (signal?.aborted) return update
    const query = queries[update % queries.length]!
    const temperature = temperatureAt(update, schedule)
    const trained = await updateOnQuery(learner, { ...fixed, update, query, temperature })
    await onUpdate?.({ ...trained, update, query: query.id, temperature })
  }
  return Math.max(done, updates)
}
