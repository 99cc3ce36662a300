import type { Restriction } from '../graph/legality.ts'
import type { PolicyLearner } from './policy-learner.ts'
import type { RewardSettings } from './reward-settings.ts'
import { paperTemperature, type TemperatureSchedule, temperatureAt } from './temperature.ts'
import { type Evaluate, type TrainedUpdate, updateOnQuery } from './update.ts'

export interface TrainingOptions {
  readonly seed: number
  /** The training queries in the order in which they are learned from. */
  readonly queries: readonly { readonly id: string; readonly embedding: ArrayLike<number> }[]
  readonly dataVersion: string
  /** Times that the queries are gone through; once in the paper. */
  readonly passes?: number
  /** Updates at most; as many as there are questions in all passes unless given. */
  readonly updates?: number
  /** K, per query; 2 in the paper. */
  readonly trajectories?: number
  /** Other training queries that partial graphs are run on; 4 in the paper. */
  readonly probes?: number
  /** From 1.2 to 1.0 over the run's own number of updates unless given. */
  readonly temperature?: TemperatureSchedule
  readonly restriction?: Restriction
  readonly rewards: RewardSettings
  readonly evaluate: Evaluate
  /** Updates that were done before, by a run that is now resumed. */
  readonly done?: number
  /** Takes what an update brought, before the next one starts: the place to write a checkpoint. */
  readonly onUpdate?: (update: FinishedUpdate) => void | Promise<void>
  /** Ends the training after the update under way. */
  readonly signal?: AbortSignal
}

export interface FinishedUpdate extends TrainedUpdate {
  /** Counted from 0. */
  readonly update: number
  readonly query: string
  readonly temperature: number
}

/**
 * Goes through the queries, one update each. An update depends on the weights, the moments, its number and the seed alone, so
 * a run that is resumed from what `onUpdate` kept ends with the same weights, to the bit. Gives the number of updates
 * done so far; fewer than there are means that it was interrupted.
 */
export async function trainPolicy(learner: PolicyLearner, options: TrainingOptions): Promise<number> {
  const { seed, queries, dataVersion, rewards, evaluate, onUpdate, signal } = options
  const { passes = 1, trajectories = 2, probes = 4, restriction = 'mixed', done = 0 } = options
  const updates = Math.min(queries.length * passes, options.updates ?? Number.POSITIVE_INFINITY)
  const schedule = options.temperature ?? { ...paperTemperature, updates: Math.max(1, updates) }
  const pool = queries.map(({ id }) => id)
  if (new Set(pool).size !== pool.length) throw new RangeError('Two training queries have the same id.')
  for (let update = done; update < updates; update += 1) {
    if (signal?.aborted) return update
    const query = queries[update % queries.length]!
    const temperature = temperatureAt(update, schedule)
    const given = {
      seed,
      update,
      query,
      pool,
      dataVersion,
      trajectories,
      probes,
      restriction,
      rewards,
      evaluate,
    }
    const trained = await updateOnQuery(learner, { ...given, temperature })
    await onUpdate?.({ ...trained, update, query: query.id, temperature })
  }
  return Math.max(done, updates)
}
