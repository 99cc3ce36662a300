import type { Task, WorkerPool } from 'graphile-worker'
import type { Database } from '../store/postgres/database.ts'
import { openQueue } from './tables.ts'

/** Graphile Worker needs at least one task to start. This one never gets jobs. */
const noTask = 'magic nothing'

/** Takes jobs from the queue and runs several at a time. */
export class JobQueue {
  readonly #database: Database
  readonly #tasks: Record<string, Task>
  readonly #pool: WorkerPool
  readonly #running = new Map<string, string>()
  readonly #concurrency: number
  readonly #freeing: NodeJS.Timeout
  #quietSince = performance.now()

  private constructor(
    database: Database,
    tasks: Record<string, Task>,
    pool: WorkerPool,
    concurrency: number,
  ) {
    this.#database = database
    this.#tasks = tasks
    this.#pool = pool
    this.#concurrency = concurrency
    this.#freeing = setInterval(() => void this.#freeLost().catch(() => {}), database.slowestMs).unref()
  }

  static async open(database: Database, concurrency: number): Promise<JobQueue> {
    const { runTaskList, silent: logger } = await openQueue()
    const tasks: Record<string, Task> = { [noTask]: async () => {} }
    const week = 7 * 24 * 3600 * 1000
    const pool = runTaskList(
      {
        ...{ logger, concurrency, noHandleSignals: true, pollInterval: 2000 },
        preset: {
          worker: {
            // Draining has no time limit; a second signal ends the process.
            gracefulShutdownAbortTimeout: week,
            // Reports finished jobs in batches, and retries if the database is down.
            ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
          },
        },
      },
      tasks,
      database.pool,
    )
    return new JobQueue(database, tasks, pool, concurrency)
  }

  /** Identifies this process in the queue. */
  get id(): string {
    return this.#pool.id
  }

  /** Resolves if the queue ends by itself, which is a failure. */
  get ended(): Promise<void> {
    return Promise.resolve(this.#pool.promise).catch(() => {})
  }

  take(task: string, run: (payload: unknown) => Promise<void>): void {
    this.#tasks[task] = async (payload, { job }) => {
      this.#running.set(String(job.id), task)
      try {
        await run(payload)
      } finally {
        this.#running.delete(String(job.id))
        this.#quietSince = performance.now()
      }
    }
    this.#pool.nudge(this.#concurrency)
  }

  /** Takes no more jobs of a task. Resolves when its running jobs are done. */
  async leave(task: string): Promise<void> {
    delete this.#tasks[task]
    while ([...this.#running.values()].includes(task)) await new Promise((done) => setTimeout(done, 100))
  }

  /** Takes no more jobs. Resolves when the running ones are done or the signal aborts. */
  async drain(quietMs: number, signal: AbortSignal): Promise<void> {
    const { promise: quiet, resolve } = Promise.withResolvers<void>()
    // A queue with broken connections may never end by itself.
    const timer = setInterval(() => {
      if (this.#running.size === 0 && performance.now() - this.#quietSince > quietMs) resolve()
    }, 100)
    this.#quietSince = performance.now()
    await firstOf(Promise.resolve(this.#pool.gracefulShutdown()), quiet, signal)
    clearInterval(timer)
    clearInterval(this.#freeing)
  }

  /** Stops at once and gives up all jobs. */
  async abandon(patienceMs: number): Promise<void> {
    clearInterval(this.#freeing)
    await firstOf(
      Promise.resolve(this.#pool.forcefulShutdown('The lease is lost.')),
      AbortSignal.timeout(patienceMs),
    )
  }

  /** Frees jobs whose delivery failed with a broken connection: they stay locked by us although we never saw them. */
  async #freeLost(): Promise<void> {
    await this.#database.query(
      `WITH freed AS (
         UPDATE graphile_worker._private_jobs SET locked_by = NULL, locked_at = NULL
         WHERE locked_by = $1 AND locked_at < now() - $2 * interval '1 ms' AND NOT id = ANY ($3::bigint[]) RETURNING id)
       SELECT pg_notify('jobs:insert', json_build_object('count', count(*))::text) FROM freed HAVING count(*) > 0`,
      [this.id, this.#database.slowestMs, `{${[...this.#running.keys()].join()}}`],
    )
  }
}

/** Resolves when the first promise settles or signal aborts. */
export async function firstOf(...endings: readonly (Promise<unknown> | AbortSignal)[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => resolve()
  for (const ending of endings) {
    if (!(ending instanceof AbortSignal)) ending.then(done, done)
    else if (ending.aborted) done()
    else ending.addEventListener('abort', done, { once: true })
  }
  await promise
}
