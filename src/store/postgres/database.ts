import type { Pool, PoolClient } from 'pg'
import { requirePackage } from '../../optional-package.ts'
import type { PostgresAddress } from './address.ts'
import { migrate } from './migrations.ts'
import { persistently } from './postgres-failure.ts'

export interface DatabaseOptions {
  /** Maximum number of connections. */
  readonly connections?: number
  /** How long to keep trying while the server cannot be reached. */
  readonly patienceMs?: number
  /** After this long without an answer, a statement is retried on another connection. */
  readonly statementMs?: number
  /** Stops waiting for the server when it is opened. */
  readonly signal?: AbortSignal
  /** Receives messages for the user: the server has been down for some seconds, or is back. */
  readonly say?: (text: string) => void
}

/** A Buffer is sent in PostgreSQL's binary form. */
type Parameter = string | number | boolean | Buffer | null

/**
 * A PostgreSQL with our tables in it. Connections are pooled. When one breaks or falls silent, it is replaced and its
 * statement is sent again, so every statement must be safe to run twice.
 */
export class Database {
  readonly address: PostgresAddress
  /** For libraries with their own statements. */
  readonly pool: Pool
  readonly patienceMs: number
  /** The longest a statement can take, including its cancellation. */
  readonly slowestMs: number
  readonly #signal: AbortSignal | undefined
  readonly #outage: Outage

  private constructor(
    { address, pool, patienceMs, slowestMs }: Pick<Database, 'address' | 'pool' | 'patienceMs' | 'slowestMs'>,
    outage: Outage,
    signal?: AbortSignal,
  ) {
    this.address = address
    this.pool = pool
    this.patienceMs = patienceMs
    this.slowestMs = slowestMs
    this.#outage = outage
    this.#signal = signal
  }

  /** Connects, and creates or updates the tables. */
  static async open(address: PostgresAddress, options: DatabaseOptions = {}): Promise<Database> {
    const { connections = 4, patienceMs = 60_000, statementMs = 30_000, signal, say } = options
    const slowestMs = statementMs + Math.min(5000, statementMs)
    const { default: pg } = await requirePackage('A ledger on PostgreSQL', ['pg'], () => import('pg'))
    const pool = new pg.Pool({
      connectionString: address.reveal(),
      application_name: 'magic',
      max: connections,
      connectionTimeoutMillis: Math.min(10_000, statementMs),
      idleTimeoutMillis: 30_000,
      // A cut cable raises no error. Keep-alive and time-outs notice it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      statement_timeout: statementMs,
      query_timeout: slowestMs,
    })
    // Broken connections are replaced when needed. Without these listeners, their errors would end the process.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    const database = new Database({ address, pool, patienceMs, slowestMs }, new Outage(address, say))
    try {
      await migrate(signal === undefined ? database : database.until(signal))
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** The same database, but retries end when the signal aborts. */
  until(signal: AbortSignal): Database {
    return new Database(this, this.#outage, signal)
  }

  /** Runs a statement; runs it again if the connection breaks. Returns integers as numbers. */
  query<Row>(text: string, values: readonly Parameter[] = []): Promise<Row[]> {
    return this.#persistently(async () => {
      const { rows } = await this.pool.query({ text, values: [...values], types: { getTypeParser } })
      return rows as Row[]
    })
  }

  /** Runs work while no other process runs any under this name. If the connection breaks, waits and runs it again. */
  alone(name: string, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
    return this.#persistently(async () => {
      const client = await this.pool.connect()
      try {
        await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
        await work(client)
      } finally {
        // Closing the connection releases the lock.
        client.release(true)
      }
    })
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (!this.pool.ended && !this.pool.ending) await this.pool.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #persistently<Result>(work: () => Promise<Result>): Promise<Result> {
    const { address, patienceMs } = this
    const onAway = (reason: string) => this.#outage.begin(reason)
    const result = await persistently(work, { address, patienceMs, signal: this.#signal, onAway })
    this.#outage.end()
    return result
  }
}

/** Tells of an outage once, however many statements wait for its end. */
class Outage {
  readonly #address: PostgresAddress
  readonly #say: (text: string) => void
  #isOn = false

  constructor(address: PostgresAddress, say: (text: string) => void = () => {}) {
    this.#address = address
    this.#say = say
  }

  begin(reason: string): void {
    if (!this.#isOn) this.#say(`Waiting for the PostgreSQL at ${this.#address.place} (${reason}).`)
    this.#isOn = true
  }

  end(): void {
    if (this.#isOn) this.#say(`The PostgreSQL at ${this.#address.place} is back.`)
    this.#isOn = false
  }
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  23: Number,
  701: Number,
}

/** `type` is an object id. The driver's own parsers would return 64-bit integers as text. */
function getTypeParser(type: number): (text: string) => unknown {
  return parsers[type] ?? ((text) => text)
}
