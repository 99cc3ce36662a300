import type { Task, WorkerPool } from 'graphile-worker'
import type { Database } from '../store/postgres/database.ts'
import { openQueue } from './tables.ts'

/** Graphile Worker needs a task at its start. Nobody submits jobs for this one. */
const noTask = 'magic nothing'

/** Takes jobs off the queue and runs them, a number at a time. */
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
            // Draining may take as long as it needs; a second signal ends the process.
            gracefulShutdownAbortTimeout: week,
            // Finished jobs are reported together, and again if the database was away.
            ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
          },
        },
      },
      tasks,
      database.pool,
    )
    return new JobQueue(database, tasks, pool, concurrency)
  }

  /** Under which the queue knows this process. */
  get id(): string {
    return this.#pool.id
  }

  /** Resolves when the queue has ended by itself, which is a failure. */
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

  /** Takes no more jobs of a task. Resolves when those under way are done. */
  async leave(task: string): Promise<void> {
    delete this.#tasks[task]
    while ([...this.#running.values()].includes(task)) await new Promise((done) => setTimeout(done, 100))
  }

  /** Takes no more jobs, and resolves when those under way are done or the signal comes. */
  async drain(quietMs: number, signal: AbortSignal): Promise<void> {
    const { promise: quiet, resolve } = Promise.withResolvers<void>()
    // A queue whose connections broke may never end by itself.
    const timer = setInterval(() => {
      if (this.#running.size === 0 && performance.now() - this.#quietSince > quietMs) resolve()
    }, 100)
    this.#quietSince = performance.now()
    await firstOf(Promise.resolve(this.#pool.gracefulShutdown()), quiet, signal)
    clearInterval(timer)
    clearInterval(this.#freeing)
  }

  /** Gives everything up. */
  async abandon(patienceMs: number): Promise<void> {
    clearInterval(this.#freeing)
    await firstOf(
      Promise.resolve(this.#pool.forcefulShutdown('The lease is lost.')),
      AbortSignal.timeout(patienceMs),
    )
  }

  /** If a connection breaks while it delivers a job, the job stays locked by us although we never saw it. */
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

/** Resolves when the first of them has ended, in whatever way, or a signal comes. */
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
