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

  private constructor(
    address: PostgresAddress,
    pool: Pool,
    { patienceMs, slowestMs }: { readonly patienceMs: number; readonly slowestMs: number },
  ) {
    this.address = address
    this.pool = pool
    this.patienceMs = patienceMs
    this.slowestMs = slowestMs
  }

  /** Connects, and creates or updates the tables. */
  static async open(address: PostgresAddress, options: DatabaseOptions = {}): Promise<Database> {
    const { connections = 4, patienceMs = 60_000, statementMs = 30_000 } = options
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
    const database = new Database(address, pool, { patienceMs, slowestMs })
    try {
      await migrate(database)
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** Runs a statement; runs it again if the connection breaks. Returns integers as numbers. */
  query<Row>(text: string, values: readonly Parameter[] = []): Promise<Row[]> {
    return persistently(
      async () => {
        const { rows } = await this.pool.query({ text, values: [...values], types: { getTypeParser } })
        return rows as Row[]
      },
      this.address,
      this.patienceMs,
    )
  }

  /** Runs work while no other process runs any under this name. If the connection breaks, waits and runs it again. */
  alone(name: string, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
    return persistently(
      async () => {
        const client = await this.pool.connect()
        try {
          await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
          await work(client)
        } finally {
          // Closing the connection releases the lock.
          client.release(true)
        }
      },
      this.address,
      this.patienceMs,
    )
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (!this.pool.ended && !this.pool.ending) await this.pool.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
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
