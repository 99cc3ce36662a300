import type { Notification, PoolClient } from 'pg'
import type { Database } from '../store/postgres/database.ts'

/** Polling interval, because notices sent while a connection is down are lost. */
const lookEveryMs = 2000

/**
 * PostgreSQL notices (LISTEN), over a dedicated connection that is reopened when it breaks. A notice only says that
 * something may have changed; listeners must look for themselves.
 */
export class Bulletin {
  readonly #database: Database
  readonly #hearers = new Map<string, Set<(payload: string | undefined) => void>>()
  readonly #timer: NodeJS.Timeout
  #client: PoolClient | undefined
  #isClosed = false
  #connecting: Promise<void> | undefined
  #asked: Promise<unknown> = Promise.resolve()

  constructor(database: Database) {
    this.#database = database
    this.#timer = setInterval(() => this.#round(), lookEveryMs).unref()
  }

  /**
   * Calls `tell` for every notice, and regularly without a payload. Resolves once it is listening. If the database is down,
   * listening starts when it is back; polling finds what was missed.
   */
  async hear(channel: string, tell: (payload: string | undefined) => void): Promise<void> {
    const hearers = this.#hearers.get(channel) ?? new Set()
    hearers.add(tell)
    this.#hearers.set(channel, hearers)
    const heard = this.#client === undefined ? this.#connect() : this.#ask(this.#client, `LISTEN ${channel}`)
    await heard.catch(() => {})
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#connecting?.catch(() => {})
    this.#client?.release(true)
    this.#client = undefined
  }

  #round(): void {
    if (this.#client === undefined) this.#connect().catch(() => {})
    // A dead connection is only noticed when it is used.
    else this.#ask(this.#client, 'SELECT 1').catch(() => {})
    for (const hearers of this.#hearers.values()) for (const tell of hearers) tell(undefined)
  }

  /** One at a time: a connection accepts no second statement before the first is answered. */
  #ask(client: PoolClient, text: string): Promise<unknown> {
    const asked = this.#asked.catch(() => {}).then(() => client.query(text))
    this.#asked = asked
    return asked
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #open(): Promise<void> {
    const client = await this.#database.pool.connect()
    if (this.#isClosed) return client.release()
    const lost = () => {
      if (this.#client !== client) return
      this.#client = undefined
      client.release(true)
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ channel, payload }: Notification) => {
      for (const tell of this.#hearers.get(channel) ?? []) tell(payload ?? '')
    })
    this.#client = client
    try {
      for (const channel of this.#hearers.keys()) await this.#ask(client, `LISTEN ${channel}`)
    } catch (error) {
      lost()
      throw error
    }
  }
}

/** Waits for values by name. Lookups are batched. */
export class Awaited<Value> {
  readonly #look: (names: readonly string[]) => Promise<ReadonlyMap<string, Value>>
  readonly #waiting = new Map<string, PromiseWithResolvers<Value>>()
  #named = new Set<string>()
  #looking: Promise<void> | undefined

  /** `look` returns the values that exist so far. */
  constructor(look: (names: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#look = look
  }

  get size(): number {
    return this.#waiting.size
  }

  of(name: string): Promise<Value> {
    const waiting = this.#waiting.get(name) ?? Promise.withResolvers<Value>()
    this.#waiting.set(name, waiting)
    return waiting.promise
  }

  forget(name: string): void {
    this.#waiting.delete(name)
  }

  /** Looks for this name, or for all names, because it may exist now. */
  tell(name?: string): void {
    if (this.#waiting.size === 0 || (name !== undefined && !this.#waiting.has(name))) return
    for (const one of name === undefined ? this.#waiting.keys() : [name]) this.#named.add(one)
    this.#looking ??= this.#lookUp().finally(() => {
      this.#looking = undefined
    })
  }

  async #lookUp(): Promise<void> {
    while (this.#named.size > 0) {
      // Batches the names of one turn of the event loop.
      await new Promise(setImmediate)
      const names = [...this.#named].filter((name) => this.#waiting.has(name))
      this.#named = new Set()
      // If the database is down, the next round tries again.
      const found = await this.#look(names).catch(() => new Map<string, Value>())
      for (const [name, value] of found) {
        this.#waiting.get(name)?.resolve(value)
        this.#waiting.delete(name)
      }
    }
  }
}
