import { CallLimit } from '../models/call-limit.ts'
import { exitCode, Problem } from '../problem.ts'
import { LedgerError } from '../store/ledger/ledger-error.ts'
import { LeaseLost } from '../store/ledger/postgres.ts'
import type { Database } from '../store/postgres/database.ts'
import type { EvaluationRules } from '../training/evaluate-graph.ts'
import { version } from '../version.ts'
import { Bulletin } from './bulletin.ts'
import { Claims } from './claims.ts'
import { openDesk } from './desk.ts'
import { type EvaluationJob, type ToldProblem, taskName } from './evaluation-job.ts'
import { firstOf, JobQueue } from './job-queue.ts'
import { defaultLeaseSeconds, Lease } from './lease.ts'
import { type OpenAssignment, type OpenedAssignment, ServedAssignments } from './served-assignments.ts'
import { migrateWork } from './tables.ts'

export interface WorkerOptions {
  readonly database: Database
  /** Display name; need not be unique. */
  readonly name: string
  /** Maximum concurrent model calls. */
  readonly calls: number
  readonly leaseSeconds?: number
  readonly open: OpenAssignment
  /** Once aborted, the worker finishes its running jobs and ends. */
  readonly drain: AbortSignal
  readonly say?: (text: string) => void
}

/**
 * Makes the evaluations that trainers submit, until drained. A worker that lost its lease, because it was stopped or cut
 * off, drops its running jobs and starts again with a new lease. Throws if the database is down for too long.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { drain } = options
  try {
    await migrateWork(options.database.until(drain))
    while (!drain.aborted) {
      const { lost } = await workUnderLease(options)
      if (!lost.aborted) continue
      if (!(lost.reason instanceof LeaseLost)) throw lost.reason
      options.say?.('The lease expired and other workers took over. Starting again.')
    }
  } catch (error) {
    // If drained while waiting for the database, there is nothing to finish.
    if (!drain.aborted || error !== drain.reason) throw error
  }
}

/** Works until drained, the lease is lost or the queue fails. */
async function workUnderLease(options: WorkerOptions): Promise<Lease> {
  const { database, name, calls, open, drain, say = () => {} } = options
  const leaseMs = (options.leaseSeconds ?? defaultLeaseSeconds) * 1000
  // Twice as many jobs as calls, because some jobs wait for calls of other jobs.
  const queue = await JobQueue.open(database, 2 * calls)
  await using ending = new AsyncDisposableStack()
  const lease = await Lease.take(
    database.until(drain),
    { id: queue.id, name, version, calls },
    leaseMs,
  ).catch(async (error: unknown) => {
    await queue.abandon(leaseMs)
    throw error
  })
  ending.defer(() => lease.end().catch(() => {}))
  const bulletin = new Bulletin(database)
  ending.defer(() => bulletin.close())
  const claims = new Claims(database, lease.id)
  await claims.listen(bulletin)

  let done = 0
  const tell = () => lease.tell({ done, draining: drain.aborted })
  const jobsOf = ({ parts }: OpenedAssignment, rules: EvaluationRules | undefined) => {
    const desk = openDesk({ database, parts, rules, claims, lease })
    return async (payload: unknown) => {
      lease.lost.throwIfAborted()
      try {
        await desk.work(payload as EvaluationJob, lease.lost)
        done += 1
        tell()
      } catch (error) {
        if (lease.lost.aborted || error instanceof LeaseLost || error instanceof LedgerError) throw error
        await desk.fail(payload as EvaluationJob, toldProblem(error))
      }
    }
  }
  const served = new ServedAssignments({
    ...{ database: database.until(drain), worker: lease.id, open, say, limit: new CallLimit(calls) },
    onOpened: (digest, opened, { rules }) => queue.take(taskName(digest), jobsOf(opened, rules)),
    onUnwanted: (digest) => queue.leave(taskName(digest)),
  })
  ending.defer(() => served.close())
  await bulletin.hear('magic_assignments', (digest) => {
    // If this fails, the next round looks again.
    if (digest === undefined || !served.knows(digest)) served.look().catch(() => {})
  })
  served.look().catch(() => {})

  await firstOf(queue.ended, drain, lease.lost)
  tell()
  if (!lease.lost.aborted) await queue.drain(leaseMs, lease.lost)
  if (lease.lost.aborted) await queue.abandon(leaseMs)
  return lease
}

function toldProblem(error: unknown): ToldProblem {
  if (error instanceof Problem) return { message: error.message, exitCode: error.exitCode }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { message: text, exitCode: exitCode.failed }
}
