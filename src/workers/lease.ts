import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LeaseLost } from '../store/ledger/postgres.ts'
import type { Database } from '../store/postgres/database.ts'
import { unreachable } from '../store/postgres/postgres-failure.ts'

/** A worker that does not renew its lease for this long loses its work to others. */
export const defaultLeaseSeconds = 30

/** A worker that stops does not wait longer to give its lease back. */
const longestGoodbyeMs = 5000

export interface WorkerFacts {
  readonly id: string
  readonly name: string
  readonly version: string
  /** Maximum concurrent model calls. */
  readonly calls: number
}

/** Initial data of the heartbeat thread, which renews the lease. */
export interface HeartbeatSettings {
  readonly address: string
  readonly id: string
  readonly leaseMs: number
  /** When the lease was taken, by the monotonic clock. */
  readonly takenAt: number
  /** How long the database may be down before it gives up. */
  readonly patienceMs: number
}
export interface Pulse {
  readonly done: number
  readonly draining: boolean
}

/** The heartbeat thread's message: when the lease was last renewed, or why it ended. */
export type Renewal = number | 'lost' | 'unreachable'

/** A clock shared by all threads. It keeps running while the process is stopped, and cannot be set. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/**
 * A worker's right to make calls and write results, valid while it is renewed. A thread renews it, so a busy event loop does
 * not lose it. The database's clock counts. A process that is stopped, killed or cut off cannot renew it.
 */
export class Lease {
  readonly id: string
  readonly name: string
  /** Aborted when the lease is lost or the database is down for too long. */
  readonly lost: AbortSignal
  readonly #database: Database
  readonly #thread: Worker
  readonly #leaseMs: number
  #renewedAt: number
  #nextWord = Promise.withResolvers<void>()

  private constructor(
    database: Database,
    { id, name }: WorkerFacts,
    thread: Worker,
    { leaseMs, takenAt }: { readonly leaseMs: number; readonly takenAt: number },
  ) {
    this.id = id
    this.name = name
    this.#database = database
    this.#thread = thread
    this.#leaseMs = leaseMs
    this.#renewedAt = takenAt
    const lost = new AbortController()
    this.lost = lost.signal
    const lose = () => {
      lost.abort(new LeaseLost())
      this.#nextWord.resolve()
    }
    thread.on('message', (renewal: Renewal) => {
      if (typeof renewal === 'number') this.#renewedAt = renewal
      else if (renewal === 'lost') lose()
      else lost.abort(unreachable(database.address, database.patienceMs))
      this.#nextWord.resolve()
      this.#nextWord = Promise.withResolvers()
    })
    thread.on('error', lose)
    thread.on('exit', lose)
  }

  static async take(database: Database, facts: WorkerFacts, leaseMs: number): Promise<Lease> {
    const { id, name, version, calls } = facts
    const takenAt = monotonicMs()
    await database.query(
      `INSERT INTO magic_work.workers (id, name, process, version, calls, lease, leased_until)
       SELECT $1, $2, $3, $4, $5, lease, clock_timestamp() + lease FROM (SELECT $6 * interval '1 ms' AS lease) AS given
       ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until`,
      [id, name, process.pid, version, calls, leaseMs],
    )
    const file = new URL(`./heartbeat${extname(import.meta.url)}`, import.meta.url)
    const { address, patienceMs } = database
    const workerData: HeartbeatSettings = { address: address.reveal(), id, leaseMs, takenAt, patienceMs }
    return new Lease(database, facts, new Worker(file, { workerData }), { leaseMs, takenAt })
  }

  /**
   * Resolves once the lease certainly holds. A process that was stopped may have lost it unnoticed, so it waits for the next
   * renewal. Throws if the lease is lost.
   */
  async held(): Promise<void> {
    for (;;) {
      this.lost.throwIfAborted()
      if (monotonicMs() - this.#renewedAt < this.#leaseMs) return
      await this.#nextWord.promise
    }
  }

  /** Status for `magic workers`, written with the next renewal. */
  tell(pulse: Pulse): void {
    this.#thread.postMessage(pulse)
  }

  /** Returns the lease. Other workers take over unfinished work at once. */
  async end(): Promise<void> {
    // A returned lease is not a lost one.
    this.#thread.removeAllListeners('exit')
    await this.#thread.terminate()
    // If the database is down, the lease expires by itself.
    const patient = this.#database.until(AbortSignal.timeout(longestGoodbyeMs))
    await patient.query('SELECT magic_work.end_leases(ARRAY[$1])', [this.id])
  }
}

/** Ends expired leases and frees their work for others. */
export async function endExpiredLeases(database: Pick<Database, 'query'>): Promise<void> {
  await database.query('SELECT magic_work.end_expired_leases()')
}
