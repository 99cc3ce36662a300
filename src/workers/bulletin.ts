import type { Notification, PoolClient } from 'pg'
import type { Database } from '../store/postgres/database.ts'

/** How often one looks even without being told: a notice that was sent while a connection was down is lost. */
const lookEveryMs = 2000

/**
 * Notices of PostgreSQL (LISTEN), over a connection of its own that is opened again when it breaks. A notice only says that
 * something may be there now: whoever hears it looks for themselves.
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
   * Calls back for every notice, and without a payload from time to time. Resolves once it listens; where the database is away
   * now, it listens as soon as it is back, and what was missed is seen by looking.
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
    // A connection that nothing comes through any more says so only when it is used.
    else this.#ask(this.#client, 'SELECT 1').catch(() => {})
    for (const hearers of this.#hearers.values()) for (const tell of hearers) tell(undefined)
  }

  /** One after the other: a connection takes no second statement before the first is answered. */
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

/** What is waited for by name until it is there. Many names are looked for at once. */
export class Awaited<Value> {
  readonly #look: (names: readonly string[]) => Promise<ReadonlyMap<string, Value>>
  readonly #waiting = new Map<string, PromiseWithResolvers<Value>>()
  #named = new Set<string>()
  #looking: Promise<void> | undefined

  /** `look` gives those that are there. */
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

  /** That one may be there, or any. */
  tell(name?: string): void {
    if (this.#waiting.size === 0 || (name !== undefined && !this.#waiting.has(name))) return
    for (const one of name === undefined ? this.#waiting.keys() : [name]) this.#named.add(one)
    this.#looking ??= this.#lookUp().finally(() => {
      this.#looking = undefined
    })
  }

  async #lookUp(): Promise<void> {
    while (this.#named.size > 0) {
      // Those who are told of in the same turn are looked for together.
      await new Promise(setImmediate)
      const names = [...this.#named].filter((name) => this.#waiting.has(name))
      this.#named = new Set()
      // A database that is away now is asked again soon.
      const found = await this.#look(names).catch(() => new Map<string, Value>())
      for (const [name, value] of found) {
        this.#waiting.get(name)?.resolve(value)
        this.#waiting.delete(name)
      }
    }
  }
}
