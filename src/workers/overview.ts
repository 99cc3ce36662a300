import { growthPerMinute, recentMs } from '../store/allowance/allowance-store.ts'
import type { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import { refusalsOf } from './served-assignments.ts'

export interface WorkerRow {
  /** Unique; changes when a worker restarts. */
  readonly id: string
  readonly name: string
  readonly version: string
  readonly state: 'working' | 'draining' | 'silent'
  /** Evaluations running now, and done since it took its lease. */
  readonly running: number
  readonly done: number
  /** The runs it works for, with the number of evaluations running for each. */
  readonly runs: readonly { readonly run: string; readonly running: number }[]
  /** Evaluations per second, over about ten seconds. */
  readonly rate: number
  /** Maximum concurrent model calls. */
  readonly calls: number
  /** Seconds since it took its lease, and until the lease expires unless renewed. */
  readonly seconds: number
  readonly leaseSeconds: number
}

export interface WorkOverview {
  readonly workers: readonly WorkerRow[]
  readonly queue: {
    /** Evaluations no worker has taken yet, and running ones. */
    readonly waiting: number
    readonly running: number
    /** Age of the oldest waiting evaluation. */
    readonly oldestSeconds: number
    /** Evaluations done per second, over the last minute. */
    readonly rate: number
    /** `waiting` and `running` by run. */
    readonly runs: readonly { readonly run: string; readonly waiting: number; readonly running: number }[]
  }
  /** Models called in the last hour, with the rate limits that all workers share. */
  readonly models: readonly {
    readonly model: string
    /** Over about the last 20 seconds. */
    readonly callsPerMinute: number
    /** As set by runs. */
    readonly requestsPerMinute: number | null
    readonly tokensPerMinute: number | null
    /** The current rate if the provider has refused calls (429) in the last ten minutes. */
    readonly learnedPerMinute: number | null
  }[]
  /** Workers that refuse a run, with the reason. */
  readonly refusals: readonly { readonly worker: string; readonly reason: string }[]
}

/** What each worker is doing, and how fast. Empty if there was never a worker. */
export async function workOverview(database: Database): Promise<WorkOverview> {
  const [there] = await database.query<{ there: boolean }>(
    `SELECT to_regclass('magic_work.results') IS NOT NULL AND to_regclass('graphile_worker._private_jobs') IS NOT NULL AS there`,
  )
  if (there?.there !== true)
    return {
      ...{ workers: [], models: [], refusals: [] },
      queue: { waiting: 0, running: 0, oldestSeconds: 0, rate: 0, runs: [] },
    }
  const workers = await database.query<Omit<WorkerRow, 'runs' | 'running'>>(
    `SELECT id, name, version, CASE WHEN leased_until < now() THEN 'silent' WHEN draining THEN 'draining' ELSE 'working' END AS state,
            done, rate::float8 AS rate, calls,
            extract(epoch FROM now() - since)::float8 AS seconds,
            extract(epoch FROM leased_until - now())::float8 AS "leaseSeconds"
     FROM magic_work.workers ORDER BY name, since`,
  )
  const jobs = await database.query<JobCount>(
    `SELECT coalesce(title, 'a ledger that is gone') AS run, locked_by AS worker, count(*) AS jobs,
            extract(epoch FROM now() - min(jobs.run_at))::float8 AS seconds
     FROM graphile_worker._private_jobs AS jobs JOIN graphile_worker._private_tasks AS tasks ON tasks.id = jobs.task_id
       LEFT JOIN magic.ledgers ON ledgers.name::text = payload->>'ledger'
     WHERE tasks.identifier LIKE 'magic %' GROUP BY 1, 2 ORDER BY 1`,
  )
  const [done] = await database.query<{ rate: number }>(
    `SELECT count(*) / 60::float8 AS rate FROM magic_work.results WHERE at > now() - interval '1 minute'`,
  )
  const models = await database.query<WorkOverview['models'][number]>(
    `SELECT name AS model,
            recent * exp(-extract(epoch FROM now() - recent_at)::float8 * 1000 / ${recentMs}) * 60000 / ${recentMs} AS "callsPerMinute",
            requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute",
            CASE WHEN learned_at > now() - interval '10 minutes'
              THEN learned_per_minute * ${growthPerMinute} ^ greatest(0, extract(epoch FROM now() - learned_at)::float8 / 60)
            END AS "learnedPerMinute"
     FROM magic.limiters WHERE recent > 0 AND recent_at > now() - interval '1 hour' ORDER BY name`,
  )
  const refusals = await refusalsOf(database)
  const waiting = jobs.filter(({ worker }) => worker === null)
  const running = jobs.filter(({ worker }) => worker !== null)
  return {
    workers: workers.map((worker) => {
      const own = running.filter((job) => job.worker === worker.id)
      return {
        ...worker,
        running: total(own),
        runs: own.map(({ run, jobs: count }) => ({ run, running: count })),
      }
    }),
    queue: {
      waiting: total(waiting),
      running: total(running),
      oldestSeconds: Math.max(0, ...waiting.map(({ seconds }) => seconds)),
      rate: done!.rate,
      runs: [...new Set(jobs.map(({ run }) => run))].map((run) => {
        const ofRun = (job: JobCount) => job.run === run
        return { run, waiting: total(waiting.filter(ofRun)), running: total(running.filter(ofRun)) }
      }),
    },
    ...{ models, refusals },
  }
}

interface JobCount {
  readonly run: string
  readonly worker: string | null
  readonly jobs: number
  readonly seconds: number
}

function total(jobs: readonly JobCount[]): number {
  return jobs.reduce((sum, job) => sum + job.jobs, 0)
}

/** Polls the overview. The database may be down at any time, even at the start. */
export class WorkWatch {
  readonly #address: PostgresAddress
  #database: Promise<Database> | undefined

  constructor(address: PostgresAddress) {
    this.#address = address
  }

  async look(): Promise<WorkOverview> {
    this.#database ??= Database.open(this.#address, { connections: 1, patienceMs: 2000 })
    const opening = this.#database
    const database = await opening.catch((error: unknown) => {
      if (this.#database === opening) this.#database = undefined
      throw error
    })
    return await workOverview(database)
  }

  async close(): Promise<void> {
    const database = await this.#database?.catch(() => undefined)
    await database?.close()
  }
}
