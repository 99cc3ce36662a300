import type { Database } from '../store/postgres/database.ts'

export interface WorkerRow {
  readonly name: string
  readonly version: string
  readonly state: 'working' | 'draining' | 'silent'
  /** Evaluations under way, and done since it took its lease. */
  readonly running: number
  readonly done: number
  /** Evaluations per second, over about the last ten. */
  readonly rate: number
  /** Model calls in flight at most. */
  readonly calls: number
  /** Seconds since it took its lease, and until that runs out unless it is renewed. */
  readonly seconds: number
  readonly leaseSeconds: number
}

export interface WorkOverview {
  readonly workers: readonly WorkerRow[]
  readonly queue: {
    /** Evaluations that nobody has taken yet, and that somebody works on. */
    readonly waiting: number
    readonly running: number
    /** The one that waits for the longest, in seconds. */
    readonly oldestSeconds: number
    /** Evaluations done per second, over the last minute. */
    readonly rate: number
  }
  /** Who takes nothing of what, and why. */
  readonly refusals: readonly { readonly worker: string; readonly reason: string }[]
}

/** Who works, on what, how fast. Empty where no worker has ever been. */
export async function workOverview(database: Database): Promise<WorkOverview> {
  const [there] = await database.query<{ there: boolean }>(
    `SELECT to_regclass('magic_work.results') IS NOT NULL AND to_regclass('graphile_worker._private_jobs') IS NOT NULL AS there`,
  )
  if (there?.there !== true)
    return { workers: [], queue: { waiting: 0, running: 0, oldestSeconds: 0, rate: 0 }, refusals: [] }
  const workers = await database.query<WorkerRow>(
    `SELECT name, version, CASE WHEN leased_until < now() THEN 'silent' WHEN draining THEN 'draining' ELSE 'working' END AS state,
            running, done, rate::float8 AS rate, calls,
            extract(epoch FROM now() - since)::float8 AS seconds,
            extract(epoch FROM leased_until - now())::float8 AS "leaseSeconds"
     FROM magic_work.workers ORDER BY name, since`,
  )
  const [queue] = await database.query<WorkOverview['queue']>(
    `SELECT count(*) FILTER (WHERE locked_by IS NULL) AS waiting, count(*) FILTER (WHERE locked_by IS NOT NULL) AS running,
            coalesce(extract(epoch FROM now() - min(jobs.run_at) FILTER (WHERE locked_by IS NULL)), 0)::float8 AS "oldestSeconds",
            (SELECT count(*) FROM magic_work.results WHERE at > now() - interval '1 minute') / 60::float8 AS rate
     FROM graphile_worker._private_jobs AS jobs JOIN graphile_worker._private_tasks AS tasks ON tasks.id = jobs.task_id
     WHERE tasks.identifier LIKE 'magic %'`,
  )
  const refusals = await database.query<{ worker: string; reason: string }>(
    `SELECT worker, reason FROM magic_work.refusals JOIN magic_work.assignments ON digest = assignment
     WHERE wanted_until > now() ORDER BY worker`,
  )
  return { workers, queue: queue!, refusals }
}
