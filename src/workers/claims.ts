import { Batches } from '../store/ledger/batches.ts'
import type { ReplyClaims } from '../store/ledger/ledger-memory.ts'
import { textArray } from '../store/postgres/array-parameter.ts'
import type { Database } from '../store/postgres/database.ts'
import { Awaited, type Bulletin } from './bulletin.ts'

/**
 * Single flight across workers: a call that several of them need is made by the one that claims it, and the others wait for
 * its answer. A claim ends with the lease of its worker.
 */
export class Claims {
  readonly #database: Database
  readonly #worker: string
  readonly #claims = new Batches<string, 'new' | 'taken over' | 'held'>((names) => this.#claim(names))
  /** Resolves when a name may be free or answered. */
  readonly #changed = new Awaited<true>(async (names) => new Map(names.map((name) => [name, true])))

  constructor(database: Database, worker: string) {
    this.#database = database
    this.#worker = worker
  }

  async listen(bulletin: Bulletin): Promise<void> {
    await bulletin.hear('magic_claims', (name) => this.#changed.tell(name || undefined))
  }

  /** The claims on what one ledger keeps. */
  on(ledger: string): ReplyClaims {
    const nameOf = (digest: string) => `${ledger} ${digest}`
    return {
      find: (digest, find, signal) => this.#find(nameOf(digest), find, signal),
      // Who does not hear of it looks by themselves, a little later.
      kept: (digest) => void this.#tell(nameOf(digest)).catch(() => {}),
      forgo: (digest) => this.#forgo(nameOf(digest)),
    }
  }

  async #find<Value>(
    name: string,
    find: () => Promise<Value | undefined>,
    signal: AbortSignal,
  ): Promise<Value | undefined> {
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    left.promise.catch(() => {})
    try {
      for (;;) {
        signal.throwIfAborted()
        const changed = this.#changed.of(name)
        const claim = await this.#claims.add(name)
        if (claim === 'new') return undefined
        const found = await find()
        if (found !== undefined || claim === 'taken over') return found
        await Promise.race([changed, left.promise])
      }
    } finally {
      signal.removeEventListener('abort', leave)
      this.#changed.forget(name)
    }
  }

  /** Without a lease nothing can be claimed. A claim whose worker is gone may be taken over: then the answer may be there all the same. */
  async #claim(names: readonly string[]): Promise<('new' | 'taken over' | 'held')[]> {
    const rows = await this.#database.query<{ name: string; isNew: boolean }>(
      `INSERT INTO magic_work.claims AS claim (name, worker) SELECT DISTINCT name, $2 FROM unnest($1::text[]) AS t (name)
       WHERE EXISTS (SELECT FROM magic_work.workers WHERE id = $2) ORDER BY name
       ON CONFLICT (name) DO UPDATE SET worker = $2
       WHERE claim.worker = $2
         OR NOT EXISTS (SELECT 1 FROM magic_work.workers WHERE id = claim.worker AND leased_until > now())
       RETURNING name, xmax = 0 AS "isNew"`,
      [textArray(names), this.#worker],
    )
    const ours = new Map(rows.map(({ name, isNew }) => [name, isNew]))
    return names.map((name) => {
      const isNew = ours.get(name)
      return isNew === undefined ? 'held' : isNew ? 'new' : 'taken over'
    })
  }

  async #tell(name: string): Promise<void> {
    await this.#database.query(`SELECT pg_notify('magic_claims', $1)`, [name])
  }

  async #forgo(name: string): Promise<void> {
    await this.#database.query(
      `WITH gone AS (DELETE FROM magic_work.claims WHERE name = $1 AND worker = $2 RETURNING name)
       SELECT pg_notify('magic_claims', name) FROM gone`,
      [name, this.#worker],
    )
  }
}
