import { randomUUID } from 'node:crypto'
import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { Problem } from '../problem.ts'
import { evaluationDigest } from '../store/ledger/evaluation.ts'
import type { SqliteLedger } from '../store/ledger/sqlite.ts'
import type { Database } from '../store/postgres/database.ts'
import type { EvaluationWork, MadeEvaluation, MakeEvaluation } from '../training/make-evaluation.ts'
import { type Assignment, putAssignment } from './assignment.ts'
import { Awaited, Bulletin } from './bulletin.ts'
import { reapLeases } from './lease.ts'
import { migrateWork, silentLogger } from './tables.ts'

/** A graph on a task, as a worker gets it. What it is evaluated with stands in the assignment. */
export interface EvaluationJob {
  /** The namespace of the shared ledger. */
  readonly ledger: string
  readonly split: string
  readonly task: string
  readonly graph: ReturnType<AgentGraph['toJSON']>
  readonly digest: string
  readonly requestReuse: boolean
  /** Who waits for it. */
  readonly submission: string
}

/** What a worker tells of an evaluation that it made, besides the ledger's row. */
export type ToldEvaluation = Pick<MadeEvaluation, 'executions' | 'calls'>

/** A failure that ends a run, wherever it happened. */
export interface ToldProblem {
  readonly message: string
  readonly exitCode: number
}

interface Result {
  readonly made: ToldEvaluation | null
  readonly problem: ToldProblem | null
  readonly worker: string
}

/** An assignment stays open so long after its last sign of life: then a trainer that was killed costs nothing more. */
const wantedSeconds = 60

export function taskName(assignment: string): string {
  return `magic ${assignment.slice(0, 32)}`
}

/**
 * Has evaluations made by workers: they are put into the queue of PostgreSQL, and what is made of them is found in the shared
 * ledger. What is asked for in the same turn is submitted together.
 */
export class RemoteEvaluations {
  readonly #database: Database
  readonly #bulletin: Bulletin
  readonly #utils: WorkerUtils
  readonly #assignment: string
  readonly #ledger: SqliteLedger
  readonly #namespace: string
  readonly #split: string
  readonly #submission = randomUUID()
  readonly #results: Awaited<Result>
  readonly #say: (text: string) => void
  readonly #told = new Set<string>()
  #batch: EvaluationWork[] = []
  #submitting: Promise<void> = Promise.resolve()

  private constructor(
    options: RemoteOptions,
    made: { readonly bulletin: Bulletin; readonly utils: WorkerUtils; readonly assignment: string },
  ) {
    this.#database = options.database
    this.#ledger = options.ledger
    this.#namespace = options.namespace
    this.#split = options.split ?? 'train'
    this.#say = options.say ?? (() => {})
    this.#bulletin = made.bulletin
    this.#utils = made.utils
    this.#assignment = made.assignment
    this.#results = new Awaited((digests) => this.#look(digests))
  }

  static async open(options: RemoteOptions): Promise<RemoteEvaluations> {
    const { database } = options
    await migrateWork(database)
    const assignment = await putAssignment(database, options.assignment)
    const utils = await makeWorkerUtils({ pgPool: database.pool, logger: silentLogger })
    const bulletin = new Bulletin(database)
    const remote = new RemoteEvaluations(options, { bulletin, utils, assignment })
    await remote.#want()
    await bulletin.hear('magic_results', (digest) => {
      remote.#results.tell(digest)
      if (digest === undefined) remote.#attend().catch(() => {})
    })
    return remote
  }

  readonly make: MakeEvaluation = async (work, signal) => {
    const digest = evaluationDigest(work.key)
    const left = Promise.withResolvers<never>()
    left.promise.catch(() => {})
    const leave = () => {
      this.#results.forget(digest)
      this.#withdraw(digest).catch(() => {})
      left.reject(signal.reason)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', leave, { once: true })
    try {
      const result = this.#results.of(digest)
      this.#submit(work)
      const { made, problem, worker } = await Promise.race([result, this.#submitting.then(() => result), left.promise])
      if (problem !== null)
        throw new Problem(`${problem.message} (Worker ${worker}.)`, { exitCode: problem.exitCode })
      const evaluation = await this.#ledger.find(work.key)
      if (evaluation === undefined) throw new Error(`The ledger lost the evaluation ${digest}.`)
      return { evaluation, ...made! }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Model calls that all workers together may have in flight. */
  async capacity(): Promise<number> {
    const { rows } = await this.#database.query<{ calls: string }>(
      'SELECT coalesce(sum(calls), 0) AS calls FROM magic_work.workers WHERE NOT draining AND leased_until > now()',
    )
    return Number(rows[0]!.calls)
  }

  async close(): Promise<void> {
    await this.#submitting.catch(() => {})
    await this.#bulletin.close()
    await this.#utils.release()
  }

  #submit(work: EvaluationWork): void {
    this.#batch.push(work)
    if (this.#batch.length > 1) return
    this.#submitting = new Promise((resolve, reject) => {
      setImmediate(() => {
        const batch = this.#batch
        this.#batch = []
        this.#add(batch).then(resolve, reject)
      })
    })
  }

  async #add(batch: readonly EvaluationWork[]): Promise<void> {
    await this.#utils.addJobs(
      batch.map(({ key, graph, task, requestReuse }) => {
        const digest = evaluationDigest(key)
        const payload: EvaluationJob = {
          ...{ ledger: this.#namespace, split: this.#split, task: task.id, graph: graph.toJSON() },
          ...{ digest, requestReuse, submission: this.#submission },
        }
        return {
          identifier: taskName(this.#assignment),
          payload,
          jobKey: `${this.#namespace} ${digest}`,
          maxAttempts: 1000,
          // The longest first: an update waits for its slowest evaluation.
          priority: -Math.max(0, ...graph.exitDepths),
        }
      }),
    )
  }

  async #withdraw(digest: string): Promise<void> {
    await this.#database.query('SELECT graphile_worker.remove_job($1)', [`${this.#namespace} ${digest}`])
  }

  async #look(digests: readonly string[]): Promise<Map<string, Result>> {
    // What another submission of the same work came to counts, too: its trainer may be gone. Its failure does not.
    const { rows } = await this.#database.query<Result & { digest: string }>(
      `SELECT digest, made, problem, worker FROM magic_work.results
       WHERE digest = ANY($1) AND (submission = $2 OR problem IS NULL) ORDER BY problem IS NULL`,
      [digests, this.#submission],
    )
    return new Map(rows.map((row) => [row.digest, row]))
  }

  /** Wants the assignment for a while longer, ends leases that ran out, and says what a person should know. */
  async #attend(): Promise<void> {
    await this.#want()
    await reapLeases(this.#database)
    const { rows } = await this.#database.query<{ worker: string; reason: string }>(
      'SELECT worker, reason FROM magic_work.refusals WHERE assignment = $1',
      [this.#assignment],
    )
    for (const { worker, reason } of rows) this.#sayOnce(`Worker ${worker} takes nothing of this: ${reason}.`)
    if (this.#results.size > 0 && (await this.capacity()) === 0)
      this.#sayOnce('No worker is there. Start one with `magic worker`; what is asked for waits.')
  }

  async #want(): Promise<void> {
    await this.#database.query(
      `WITH wanted AS (
         INSERT INTO magic_work.assignments VALUES ($1, now() + $2 * interval '1 s')
         ON CONFLICT (digest) DO UPDATE SET wanted_until = excluded.wanted_until RETURNING digest)
       SELECT pg_notify('magic_assignments', digest) FROM wanted`,
      [this.#assignment, wantedSeconds],
    )
  }

  #sayOnce(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#say(text)
  }
}

export interface RemoteOptions {
  readonly database: Database
  /** The shared ledger, and the name under which workers find it. */
  readonly ledger: SqliteLedger
  readonly namespace: string
  readonly assignment: Assignment
  readonly split?: string
  /** Is told what a person should know: that there is no worker, or that one refuses. */
  readonly say?: (text: string) => void
}
