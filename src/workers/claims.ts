import type { CallLimit } from '../models/call-limit.ts'
import { Batches } from '../store/ledger/batches.ts'
import type { ReplyClaims } from '../store/ledger/ledger-memory.ts'
import { textArray } from '../store/postgres/array-parameter.ts'
import type { Database } from '../store/postgres/database.ts'
import { Awaited, type Bulletin } from './bulletin.ts'

/**
 * Single flight across workers: the worker that claims a call makes it, and the others wait for its answer. A claim lasts
 * until the answer is stored, the call fails, or the worker loses its lease.
 */
export class Claims {
  readonly #database: Database
  readonly #worker: string
  readonly #claims = new Batches<string, boolean>((names) => this.#claim(names))
  readonly #releases = new Batches<string, void>((names) => this.#release(names))
  /** Resolves when a claim may be free or its answer stored. */
  readonly #changed = new Awaited<true>(async (names) => new Map(names.map((name) => [name, true])))

  constructor(database: Database, worker: string) {
    this.#database = database
    this.#worker = worker
  }

  async listen(bulletin: Bulletin): Promise<void> {
    await bulletin.hear('magic_claims', (name) => this.#changed.tell(name || undefined))
  }

  /** Claims on the calls of one ledger. `limit` is the call limit they go through. */
  on(ledger: string, limit: CallLimit): ReplyClaims {
    const nameOf = (digest: string) => `${ledger} ${digest}`
    return {
      hold: () => limit.hold(),
      find: (digest, find, signal) => this.#find(nameOf(digest), find, signal),
      // If this fails, the others find out by polling.
      kept: (digest) => void this.#releases.add(nameOf(digest)).catch(() => {}),
      forgo: (digest) => this.#releases.add(nameOf(digest)),
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
        const isOurs = await this.#claims.add(name)
        // Look again even if the claim is ours: its last holder may have stored the answer just before we claimed it.
        const found = await find()
        if (found !== undefined && isOurs) await this.#releases.add(name)
        if (found !== undefined || isOurs) return found
        await Promise.race([changed, left.promise])
        const told = await find()
        if (told !== undefined) return told
      }
    } finally {
      signal.removeEventListener('abort', leave)
      this.#changed.forget(name)
    }
  }

  /** Whether each claim is ours. It is not if another worker with a lease holds it, or if we have no lease. */
  async #claim(names: readonly string[]): Promise<boolean[]> {
    const rows = await this.#database.query<{ name: string }>(
      `INSERT INTO magic_work.claims AS claim (name, worker) SELECT DISTINCT name, $2 FROM unnest($1::text[]) AS t (name)
       WHERE EXISTS (SELECT FROM magic_work.workers WHERE id = $2) ORDER BY name
       ON CONFLICT (name) DO UPDATE SET worker = $2
       WHERE claim.worker = $2 OR NOT EXISTS (SELECT FROM magic_work.workers WHERE id = claim.worker)
       RETURNING name`,
      [textArray(names), this.#worker],
    )
    const ours = new Set(rows.map(({ name }) => name))
    return names.map((name) => ours.has(name))
  }

  async #release(names: readonly string[]): Promise<undefined[]> {
    await this.#database.query(
      `WITH gone AS (DELETE FROM magic_work.claims WHERE name = ANY ($1::text[]) AND worker = $2 RETURNING name)
       SELECT pg_notify('magic_claims', name) FROM gone`,
      [textArray(names), this.#worker],
    )
    return names.map(() => undefined)
  }
}
