import type { Pool } from 'pg'
import { requirePackage } from '../../optional-package.ts'
import type { PostgresAddress } from './address.ts'
import { migrate } from './migrations.ts'
import { persistently } from './postgres-failure.ts'

export interface DatabaseOptions {
  /** Connections at most. */
  readonly connections?: number
  /** How long a server that cannot be reached is tried again before an error says so. */
  readonly patienceMs?: number
  /** A statement without an answer for so long is given up together with its connection, and tried again. */
  readonly statementMs?: number
}

/** A value for a parameter: a Buffer goes in PostgreSQL's binary form. */
type Parameter = string | number | boolean | Buffer | null

/**
 * A PostgreSQL with our tables in it. Connections are pooled; one that breaks, or falls silent, is replaced, and what it was
 * asked is asked again. So every statement must be one that may be done twice.
 */
export class Database {
  readonly address: PostgresAddress
  /** For libraries that bring statements of their own. */
  readonly pool: Pool
  readonly #patienceMs: number

  private constructor(address: PostgresAddress, pool: Pool, patienceMs: number) {
    this.address = address
    this.pool = pool
    this.#patienceMs = patienceMs
  }

  /** Connects, and makes or renews the tables. */
  static async open(address: PostgresAddress, options: DatabaseOptions = {}): Promise<Database> {
    const { connections = 4, patienceMs = 60_000, statementMs = 30_000 } = options
    const { default: pg } = await requirePackage('A ledger on PostgreSQL', ['pg'], () => import('pg'))
    const pool = new pg.Pool({
      connectionString: address.reveal(),
      application_name: 'magic',
      max: connections,
      connectionTimeoutMillis: Math.min(10_000, statementMs),
      idleTimeoutMillis: 30_000,
      // A cut cable says nothing: the kernel asks, and a statement does not wait for ever.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      statement_timeout: statementMs,
      query_timeout: statementMs + Math.min(5000, statementMs),
    })
    // An idle connection that breaks is replaced when it is needed.
    pool.on('error', () => {})
    // Nor must one that is lent to a library end the process.
    pool.on('connect', (client) => client.on('error', () => {}))
    const database = new Database(address, pool, patienceMs)
    try {
      await migrate(database)
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** Runs a statement, again if its connection broke meanwhile. Whole numbers come back as numbers. */
  query<Row>(text: string, values: readonly Parameter[] = []): Promise<Row[]> {
    return persistently(
      async () => {
        const { rows } = await this.pool.query({ text, values: [...values], types: { getTypeParser } })
        return rows as Row[]
      },
      this.address,
      this.#patienceMs,
    )
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (!this.pool.ended && !this.pool.ending) await this.pool.end()
  }
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  23: Number,
  701: Number,
}

/** By the object id of a type; the driver's own would give whole numbers of 64 bits as text. */
function getTypeParser(type: number): (text: string) => unknown {
  return parsers[type] ?? ((text) => text)
}
