import { randomUUID } from 'node:crypto'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { ModelIdentity } from '../models/chat-model.ts'
import { Problem } from '../problem.ts'
import type { SharedCaps, Sums } from '../store/allowance/allowance-store.ts'
import { PostgresAllowanceStore } from '../store/allowance/postgres-store.ts'
import { Batches } from '../store/ledger/batches.ts'
import { type EvaluationKey, evaluationDigest } from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import { textArray } from '../store/postgres/array-parameter.ts'
import type { Database } from '../store/postgres/database.ts'
import type { EvaluationWork, MadeEvaluation, MakeEvaluation } from '../training/make-evaluation.ts'
import { type Assignment, putAssignment } from './assignment.ts'
import { Awaited, Bulletin } from './bulletin.ts'
import { endExpiredLeases } from './lease.ts'
import { migrateWork } from './tables.ts'

/** A graph on a task, as a worker gets it. What it is evaluated with stands in the assignment. */
export interface EvaluationJob {
  /** The namespace of the shared ledger. */
  readonly ledger: string
  readonly split: string
  readonly task: string
  readonly graph: ReturnType<AgentGraph['toJSON']>
  readonly key: EvaluationKey
  readonly requestReuse: boolean
  readonly isFresh?: boolean
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

/** One evaluation in one ledger. */
export function resultName(ledger: string, key: EvaluationKey): string {
  return `${ledger} ${evaluationDigest(key)}`
}

/** Where the calls for a ledger are counted, and where a model's limits are kept for all who ask it. */
export function accountOf(ledger: string, { provider, model }: Pick<ModelIdentity, 'provider' | 'model'>) {
  return { account: ledger, limiter: `${provider}/${model}` }
}

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
  readonly #assignment: string
  readonly #ledger: Ledger
  readonly #namespace: string
  readonly #split: string
  readonly #submission = randomUUID()
  readonly #results: Awaited<Result>
  readonly #say: (text: string) => void
  readonly #told = new Set<string>()
  readonly #account: PostgresAllowanceStore
  #sums: Sums
  readonly #submissions = new Batches<EvaluationWork, void>((batch) => this.#add(batch))

  private constructor(
    options: RemoteOptions,
    made: {
      readonly bulletin: Bulletin
      readonly assignment: string
      readonly account: PostgresAllowanceStore
      readonly sums: Sums
    },
  ) {
    this.#database = options.database
    this.#ledger = options.ledger
    this.#namespace = options.namespace
    this.#split = options.split ?? 'train'
    this.#say = options.say ?? (() => {})
    this.#bulletin = made.bulletin
    this.#assignment = made.assignment
    this.#account = made.account
    this.#sums = made.sums
    this.#results = new Awaited((names) => this.#look(names))
  }

  static async open(options: RemoteOptions): Promise<RemoteEvaluations> {
    const { database } = options
    await migrateWork(database)
    const assignment = await putAssignment(database, options.assignment)
    const bulletin = new Bulletin(database)
    const account = await PostgresAllowanceStore.open(
      database,
      accountOf(options.namespace, options.assignment.parts.model),
    )
    // Whoever asks this model waits for its turn by what the run states of the provider.
    await account.setLimits(options.assignment.parts.execution)
    const sums = await account.sums()
    const remote = new RemoteEvaluations(options, { bulletin, assignment, account, sums })
    await remote.#want()
    await bulletin.hear('magic_results', (name) => {
      remote.#results.tell(name)
      if (name === undefined) remote.#attend().catch(() => {})
    })
    return remote
  }

  readonly make: MakeEvaluation = async (work, signal) => {
    const name = this.#nameOf(work.key)
    const left = Promise.withResolvers<never>()
    left.promise.catch(() => {})
    const leave = () => {
      this.#results.forget(name)
      this.#withdraw(name).catch(() => {})
      left.reject(signal.reason)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', leave, { once: true })
    try {
      const result = this.#results.of(name)
      await Promise.race([this.#submissions.add(work), left.promise])
      const { made, problem, worker } = await Promise.race([result, left.promise])
      if (problem !== null)
        throw new Problem(`${problem.message} (Worker ${worker}.)`, { exitCode: problem.exitCode })
      const evaluation = await this.#ledger.find(work.key)
      if (evaluation === undefined) throw new Error(`The ledger lost the evaluation ${name}.`)
      return { evaluation, ...made! }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** What workers have spent on the ledger's account, as it was when it was last looked at. */
  readonly spent = (): Sums => this.#sums

  /** Looks at what was spent. */
  readonly refresh = async (): Promise<void> => {
    this.#sums = await this.#account.sums()
  }

  /** Caps on what workers spend; a call in flight may pass one. */
  setCaps(caps: SharedCaps): Promise<void> {
    return this.#account.setCaps(caps)
  }

  /** Model calls that all workers together may have in flight. */
  async capacity(): Promise<number> {
    const rows = await this.#database.query<{ calls: number }>(
      'SELECT coalesce(sum(calls), 0) AS calls FROM magic_work.workers WHERE NOT draining AND leased_until > now()',
    )
    return rows[0]!.calls
  }

  async close(): Promise<void> {
    await this.#submissions.settled()
    await this.#bulletin.close()
  }

  /** A job's key is its evaluation, so that submitting it again, also from elsewhere, makes no second one. */
  async #add(batch: readonly EvaluationWork[]): Promise<undefined[]> {
    const jobs = batch.map(({ key, graph, task, requestReuse, isFresh }) => {
      const payload: EvaluationJob = {
        ...{ ledger: this.#namespace, split: this.#split, task: task.id, graph: graph.toJSON() },
        ...{ key, requestReuse, isFresh, submission: this.#submission },
      }
      return {
        identifier: taskName(this.#assignment),
        payload,
        job_key: this.#nameOf(key),
        max_attempts: 1000,
        // The longest first: an update waits for its slowest evaluation.
        priority: -Math.max(0, ...graph.exitDepths),
      }
    })
    await this.#database.query(
      `SELECT count(*) FROM graphile_worker.add_jobs(
         ARRAY(SELECT json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`,
      [JSON.stringify(jobs)],
    )
    return batch.map(() => undefined)
  }

  #nameOf(key: EvaluationKey): string {
    return resultName(this.#namespace, key)
  }

  async #withdraw(name: string): Promise<void> {
    await this.#database.query('SELECT graphile_worker.remove_job($1)', [name])
  }

  async #look(names: readonly string[]): Promise<Map<string, Result>> {
    // What another submission of the same work came to counts, too: its trainer may be gone. Its failure does not.
    const rows = await this.#database.query<Record<'name' | 'made' | 'problem' | 'worker', string>>(
      `SELECT name, made, problem, worker FROM magic_work.results
       WHERE name = ANY($1::text[]) AND (submission = $2 OR problem IS NULL) ORDER BY problem IS NULL`,
      [textArray(names), this.#submission],
    )
    return new Map(
      rows.map(({ name, worker, made, problem }) => [
        name,
        { worker, made: JSON.parse(made ?? 'null'), problem: JSON.parse(problem ?? 'null') },
      ]),
    )
  }

  /** Wants the assignment for a while longer, ends leases that ran out, and says what a person should know. */
  async #attend(): Promise<void> {
    await this.#want()
    await endExpiredLeases(this.#database)
    await this.refresh()
    const rows = await this.#database.query<{ worker: string; reason: string }>(
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
  readonly ledger: Ledger
  readonly namespace: string
  readonly assignment: Assignment
  readonly split?: string
  /** Is told what a person should know: that there is no worker, or that one refuses. */
  readonly say?: (text: string) => void
}
