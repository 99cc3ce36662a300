import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LeaseLost } from '../store/ledger/postgres.ts'
import type { Database } from '../store/postgres/database.ts'

/** A worker that does not renew its lease for so long is taken for dead. */
export const defaultLeaseSeconds = 30

export interface WorkerFacts {
  readonly id: string
  readonly name: string
  readonly version: string
  /** Model calls in flight at most. */
  readonly calls: number
}

/** What the thread that renews a lease is told, and tells. */
export interface HeartbeatSettings {
  readonly address: string
  readonly id: string
  readonly leaseMs: number
}
export interface Pulse {
  readonly running: number
  readonly done: number
  readonly draining: boolean
}

/**
 * The right to write results, as long as it is renewed: by the database's clock, and from a thread of its own, so that a busy
 * event loop loses nothing. A process that is stopped, killed or cut off cannot renew it.
 */
export class Lease {
  readonly id: string
  readonly name: string
  /** Comes when the lease is lost. */
  readonly lost: AbortSignal
  readonly #database: Database
  readonly #thread: Worker

  private constructor(database: Database, { id, name }: WorkerFacts, thread: Worker) {
    this.id = id
    this.name = name
    this.#database = database
    this.#thread = thread
    const lost = new AbortController()
    this.lost = lost.signal
    const lose = () => lost.abort(new LeaseLost())
    thread.on('message', lose)
    thread.on('error', lose)
    thread.on('exit', lose)
  }

  static async take(database: Database, facts: WorkerFacts, leaseMs: number): Promise<Lease> {
    const { id, name, version, calls } = facts
    await database.query(
      `INSERT INTO magic_work.workers (id, name, process, version, calls, leased_until)
       VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 ms')
       ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until`,
      [id, name, process.pid, version, calls, leaseMs],
    )
    const file = new URL(`./heartbeat${extname(import.meta.url)}`, import.meta.url)
    const workerData: HeartbeatSettings = { address: database.address.reveal(), id, leaseMs }
    const thread = new Worker(file, { workerData })
    return new Lease(database, facts, thread)
  }

  /** What `magic workers` shows; it goes out with the next renewal. */
  tell(pulse: Pulse): void {
    this.#thread.postMessage(pulse)
  }

  /** Gives it back, with whatever is still under way, which others take over at once. */
  async end(): Promise<void> {
    await this.#thread.terminate()
    await endLeases(this.#database, 'id = $1', [this.id])
  }
}

/** Takes the work of those away whose lease has run out, and gives it to others. */
export async function reapLeases(database: Pick<Database, 'query'>): Promise<void> {
  await endLeases(database, 'leased_until < now()', [])
}

/**
 * One statement, so that it happens as a whole. Whoever is writing a result at this moment is waited for. Jobs are freed that
 * nobody with a lease holds: one who has lost it may have taken another job before noticing.
 */
async function endLeases(
  database: Pick<Database, 'query'>,
  which: string,
  values: readonly string[],
): Promise<void> {
  await database.query(
    `WITH ended AS (DELETE FROM magic_work.workers WHERE ${which} RETURNING id),
       unclaimed AS (DELETE FROM magic_work.claims USING ended WHERE claims.worker = ended.id RETURNING name),
       freed AS (
         UPDATE graphile_worker._private_jobs SET locked_by = NULL, locked_at = NULL
         WHERE locked_by IS NOT NULL
           AND locked_by NOT IN (SELECT id FROM magic_work.workers EXCEPT SELECT id FROM ended)
           AND task_id IN (SELECT id FROM graphile_worker._private_tasks WHERE identifier LIKE 'magic %')
         RETURNING id)
     SELECT pg_notify('jobs:insert', json_build_object('count', jobs)::text), pg_notify('magic_claims', '')
     FROM (SELECT count(*) AS jobs FROM freed) AS freed, (SELECT count(*) AS claims FROM unclaimed) AS unclaimed
     WHERE jobs + claims > 0`,
    values,
  )
}
