import type { TaskList, WorkerPool } from 'graphile-worker'
import { CallLimit } from '../models/call-limit.ts'
import { exitCode, Problem } from '../problem.ts'
import { LedgerError } from '../store/ledger/ledger-error.ts'
import { LeaseLost } from '../store/ledger/postgres.ts'
import type { Database } from '../store/postgres/database.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { version } from '../training/prepare-run.ts'
import { type Assignment, getAssignment, getContent, whyNot } from './assignment.ts'
import { Bulletin } from './bulletin.ts'
import { Claims } from './claims.ts'
import { openDesk } from './desk.ts'
import { defaultLeaseSeconds, Lease } from './lease.ts'
import { type EvaluationJob, type ToldProblem, taskName } from './remote-evaluations.ts'
import { migrateWork, openQueue } from './tables.ts'

export interface WorkerOptions {
  readonly database: Database
  /** For people; several workers may have the same. */
  readonly name: string
  /** Model calls in flight at most. */
  readonly calls: number
  readonly leaseSeconds?: number
  /** Opens what an assignment is about. A `Problem` that it throws is the reason for a refusal. */
  open(assignment: Assignment, means: OpeningMeans): Promise<OpenedAssignment>
  /** No job is taken any more; it ends once those under way are done. */
  readonly drain: AbortSignal
  readonly say?: (text: string) => void
}

export interface OpeningMeans {
  readonly limit: CallLimit
  /** A file that came with the assignment. */
  file(sha256: string): Promise<Buffer>
}

export interface OpenedAssignment {
  readonly parts: ExecutorParts
  close(): Promise<void>
}

/** Before it has an assignment, a worker looks for jobs that nobody submits. */
const noJobs: TaskList = { 'magic nothing': async () => {} }

/**
 * Makes evaluations that trainers submit, until it is drained. Whoever loses the lease, because the process was stopped or cut
 * off, gives up what is under way and begins again under another one.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  await migrateWork(options.database)
  while (!options.drain.aborted) {
    const lost = await workUnderLease(options)
    if (lost) options.say?.('The lease has run out, and others have the work. Beginning again.')
  }
}

/** Whether it ended because the lease was lost. */
async function workUnderLease(options: WorkerOptions): Promise<boolean> {
  const { database, name, calls, drain, say = () => {}, leaseSeconds = defaultLeaseSeconds } = options
  const tasks: TaskList = { ...noJobs }
  // More jobs than calls: some wait for what others of them, or other workers, are asking.
  const pool = takeJobs(await openQueue(), database, tasks, 2 * calls)
  await using ending = new AsyncDisposableStack()
  const lease = await Lease.take(database, { id: pool.id, name, version, calls }, leaseSeconds * 1000)
  ending.defer(() => lease.end().catch(() => {}))
  const bulletin = new Bulletin(database)
  ending.defer(() => bulletin.close())
  const claims = new Claims(database, lease.id)
  await claims.listen(bulletin)
  const count = { running: 0, done: 0 }
  const tell = () => lease.tell({ ...count, draining: drain.aborted })
  const limit = new CallLimit(calls)
  const opened = new Map<string, OpenedAssignment>()
  ending.defer(async () => {
    for (const one of opened.values()) await one.close()
  })

  const jobsOf = ({ parts }: OpenedAssignment) => {
    const desk = openDesk({ database, parts, claims, lease })
    return async (payload: unknown) => {
      lease.lost.throwIfAborted()
      count.running += 1
      tell()
      try {
        await desk.work(payload as EvaluationJob, lease.lost)
      } catch (error) {
        if (lease.lost.aborted || error instanceof LeaseLost || error instanceof LedgerError) throw error
        await desk.fail(payload as EvaluationJob, toldProblem(error))
      } finally {
        count.running -= 1
        count.done += 1
        tell()
      }
    }
  }
  const take = async (assignment: string) => {
    const found = await openAssignment(options, assignment, limit)
    if ('refusal' in found) {
      say(`Takes nothing of assignment ${assignment.slice(0, 8)}: ${found.refusal}.`)
      return refuse(database, assignment, name, found.refusal)
    }
    opened.set(assignment, found)
    tasks[taskName(assignment)] = jobsOf(found)
    say(`Works on ${found.parts.set.name} with ${found.parts.model.identity.model}.`)
    pool.nudge(2 * calls)
  }
  const known = new Set<string>()
  let looking: Promise<void> = Promise.resolve()
  const look = async () => {
    const rows = await database.query<{ digest: string }>(
      'SELECT digest FROM magic_work.assignments WHERE wanted_until > now()',
    )
    const wanted = new Set(rows.map(({ digest }) => digest))
    for (const assignment of known) {
      if (wanted.has(assignment)) continue
      // Jobs under way go on. When somebody wants it again, it is opened again.
      delete tasks[taskName(assignment)]
      known.delete(assignment)
    }
    for (const assignment of wanted) {
      if (known.has(assignment)) continue
      known.add(assignment)
      await take(assignment)
    }
  }
  await bulletin.hear('magic_assignments', (digest) => {
    if (digest === undefined || !known.has(digest)) looking = looking.then(look).catch(() => {})
  })
  looking = looking.then(look)
  await looking
  await come(drain, lease.lost, pool)
  tell()
  // A queue whose connections broke may never end by itself. Without the lease nothing of it counts, and nobody waits for it.
  const patience = AbortSignal.timeout(leaseSeconds * 1000)
  if (!lease.lost.aborted)
    await endWithin(
      pool.gracefulShutdown(),
      drain.aborted ? lease.lost : AbortSignal.any([lease.lost, patience]),
    )
  if (lease.lost.aborted) await endWithin(pool.forcefulShutdown('lease lost'), patience)
  return lease.lost.aborted
}

/** Resolves when it has ended, however, or the signal comes. */
async function endWithin(ending: unknown, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  await Promise.race([promise, Promise.resolve(ending).catch(() => {})])
}

function takeJobs(
  { runTaskList, silent: logger }: Awaited<ReturnType<typeof openQueue>>,
  database: Database,
  tasks: TaskList,
  concurrency: number,
): WorkerPool {
  const week = 7 * 24 * 3600 * 1000
  return runTaskList(
    {
      ...{ logger, concurrency, noHandleSignals: true, pollInterval: 2000 },
      preset: {
        worker: {
          // Draining waits for as long as it takes: a second signal ends the process.
          gracefulShutdownAbortTimeout: week,
          // That a job is done is told together with others, and again if the database was away.
          ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
        },
      },
    },
    tasks,
    database.pool,
  )
}

/** Resolves when one of the signals comes, or the queue's own loops have ended by a failure. */
async function come(drain: AbortSignal, lost: AbortSignal, pool: WorkerPool): Promise<void> {
  await endWithin(pool.promise, AbortSignal.any([drain, lost]))
}

async function openAssignment(
  { database, open }: WorkerOptions,
  digest: string,
  limit: CallLimit,
): Promise<OpenedAssignment | { readonly refusal: string }> {
  const assignment = await getAssignment(database, digest)
  // Another version may not even read it.
  if (assignment.parts.version !== version)
    return { refusal: `it is version ${version}, the run is of ${assignment.parts.version}` }
  try {
    const opened = await open(assignment, { limit, file: (sha256) => getContent(database, sha256) })
    const refusal = whyNot(assignment.parts, opened.parts)
    if (refusal === undefined) return opened
    await opened.close()
    return { refusal }
  } catch (error) {
    if (error instanceof Problem) return { refusal: error.message.replace(/\.$/, '') }
    throw error
  }
}

async function refuse(database: Database, assignment: string, worker: string, reason: string): Promise<void> {
  await database.query(
    `INSERT INTO magic_work.refusals (assignment, worker, reason) VALUES ($1, $2, $3)
     ON CONFLICT (assignment, worker) DO UPDATE SET reason = excluded.reason, at = now()`,
    [assignment, worker, reason],
  )
}

function toldProblem(error: unknown): ToldProblem {
  if (error instanceof Problem) return { message: error.message, exitCode: error.exitCode }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { message: text, exitCode: exitCode.failed }
}
