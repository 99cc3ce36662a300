import type { CallLimit } from '../models/call-limit.ts'
import { Problem } from '../problem.ts'
import { LedgerError } from '../store/ledger/ledger-error.ts'
import type { Database } from '../store/postgres/database.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { version } from '../version.ts'
import { type Assignment, getAssignment, getContent, whyNot } from './assignment.ts'

/** Loads what an assignment describes. If it throws, the worker refuses with the error's message as the reason. */
export type OpenAssignment = (assignment: Assignment, means: OpeningMeans) => Promise<OpenedAssignment>

export interface OpeningMeans {
  readonly limit: CallLimit
  /** A file sent with the assignment. */
  file(sha256: string): Promise<Buffer>
}

export interface OpenedAssignment {
  readonly parts: ExecutorParts
  close(): Promise<void>
}

interface ServingOptions {
  readonly database: Database
  /** The id of the worker's lease. */
  readonly worker: string
  readonly limit: CallLimit
  readonly open: OpenAssignment
  readonly say: (text: string) => void
  /** Starts taking jobs of this assignment. */
  onOpened(digest: string, opened: OpenedAssignment, assignment: Assignment): void
  /** No trainer wants it any more: stops taking its jobs. Resolves when the running ones are done. */
  onUnwanted(digest: string): Promise<void>
}

/** The assignments that trainers want, opened or refused by one worker. */
export class ServedAssignments {
  readonly #options: ServingOptions
  readonly #opened = new Map<string, OpenedAssignment>()
  readonly #refused = new Set<string>()
  #looking: Promise<void> = Promise.resolve()

  constructor(options: ServingOptions) {
    this.#options = options
  }

  knows(digest: string): boolean {
    return this.#opened.has(digest) || this.#refused.has(digest)
  }

  /** Looks for changes, after any look in progress. */
  look(): Promise<void> {
    this.#looking = this.#looking.catch(() => {}).then(() => this.#look())
    return this.#looking
  }

  async close(): Promise<void> {
    await this.#looking.catch(() => {})
    for (const { close } of this.#opened.values()) await close()
  }

  async #look(): Promise<void> {
    const { database, onUnwanted } = this.#options
    const rows = await database.query<{ digest: string }>(
      'SELECT digest FROM magic_work.assignments WHERE wanted_until > now()',
    )
    const wanted = new Set(rows.map(({ digest }) => digest))
    for (const digest of this.#refused) if (!wanted.has(digest)) this.#refused.delete(digest)
    for (const [digest, { close }] of this.#opened) {
      if (wanted.has(digest)) continue
      this.#opened.delete(digest)
      onUnwanted(digest)
        .then(close)
        .catch(() => {})
    }
    for (const digest of wanted) if (!this.knows(digest)) await this.#take(digest)
  }

  async #take(digest: string): Promise<void> {
    const { database, say, onOpened } = this.#options
    const assignment = await getAssignment(database, digest)
    const found = await this.#open(assignment)
    if ('refusal' in found) {
      this.#refused.add(digest)
      say(`Refusing assignment ${digest.slice(0, 8)}: ${found.refusal}.`)
      return this.#record(digest, found.refusal)
    }
    this.#opened.set(digest, found)
    await this.#record(digest)
    onOpened(digest, found, assignment)
    say(`Working on ${found.parts.set.name} with ${found.parts.model.identity.model}.`)
  }

  async #open(assignment: Assignment): Promise<OpenedAssignment | { readonly refusal: string }> {
    const { database, limit, open } = this.#options
    // The format may differ between versions.
    if (assignment.parts.version !== version)
      return { refusal: `it has version ${version}, the run has ${assignment.parts.version}` }
    try {
      const opened = await open(assignment, { limit, file: (sha256) => getContent(database, sha256) })
      const refusal = whyNot(assignment.parts, opened.parts)
      if (refusal === undefined) return opened
      await opened.close()
      return { refusal }
    } catch (error) {
      if (error instanceof LedgerError) throw error
      return { refusal: reasonOf(error) }
    }
  }

  /** Records a refusal for the trainer, or withdraws an earlier one. */
  async #record(digest: string, refusal?: string): Promise<void> {
    const { database, worker } = this.#options
    if (refusal !== undefined)
      await database.query(
        `INSERT INTO magic_work.refusals (assignment, worker, reason) VALUES ($1, $2, $3)
         ON CONFLICT (assignment, worker) DO UPDATE SET reason = excluded.reason, at = now()`,
        [digest, worker, refusal],
      )
    // Refusals of workers that have ended no longer matter.
    await database.query(
      `DELETE FROM magic_work.refusals
       WHERE (assignment = $1 AND worker = $2 AND $3) OR worker NOT IN (SELECT id FROM magic_work.workers)`,
      [digest, worker, refusal === undefined],
    )
  }
}

/** The workers that refuse an assignment, by name; without a digest, any assignment that a trainer wants. */
export function refusalsOf(
  database: Database,
  digest?: string,
): Promise<{ readonly worker: string; readonly reason: string }[]> {
  return database.query(
    `SELECT workers.name AS worker, reason
     FROM magic_work.refusals JOIN magic_work.workers ON workers.id = worker
       JOIN magic_work.assignments ON digest = assignment
     WHERE wanted_until > now() AND digest = coalesce($1, digest) ORDER BY workers.name`,
    [digest ?? null],
  )
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const reason = message.replace(/\.$/, '')
  return error instanceof Problem ? reason : `it failed to open the run (${reason})`
}
