import pg from 'pg'

/** STUB until 15a's. */
export class Database {
  readonly pool: pg.Pool
  readonly address: string

  private constructor(address: string) {
    this.address = address
    this.pool = new pg.Pool({ connectionString: address, max: 10 })
    this.pool.on('error', () => {})
  }

  static async open(address: string): Promise<Database> {
    return new Database(address)
  }

  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<Row>> {
    return this.pool.query<Row>(text, values)
  }

  async transaction<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await this.pool.connect()
    try {
      await client.query('BEGIN')
      const value = await work(client)
      await client.query('COMMIT')
      client.release()
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      client.release(true)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.pool.end()
  }
}
