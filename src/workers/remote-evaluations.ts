import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../problem.ts'
import { type SharedCaps, type Sums, sumsSince } from '../store/allowance/allowance-store.ts'
import { PostgresAllowanceStore } from '../store/allowance/postgres-store.ts'
import { Batches } from '../store/ledger/batches.ts'
import type { EvaluationKey } from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import { textArray } from '../store/postgres/array-parameter.ts'
import type { Database } from '../store/postgres/database.ts'
import type { EvaluationWork, MakeEvaluation } from '../training/make-evaluation.ts'
import { type Assignment, putAssignment } from './assignment.ts'
import { Awaited, Bulletin } from './bulletin.ts'
import {
  type EvaluationJob,
  limiterOf,
  resultName,
  type ToldEvaluation,
  type ToldProblem,
  taskName,
} from './evaluation-job.ts'
import { endExpiredLeases } from './lease.ts'
import { refusalsOf } from './served-assignments.ts'
import { migrateWork } from './tables.ts'

interface Result {
  readonly made: ToldEvaluation | null
  readonly problem: ToldProblem | null
  readonly worker: string
}

/** Workers keep an assignment open for this long after its trainer's last sign of life. */
const wantedSeconds = 60

/** A trainer deletes the results it has read; those of a killed trainer expire after this long. */
const keptDays = 7

export interface RemoteOptions {
  readonly database: Database
  /** The shared ledger and its name. */
  readonly ledger: Ledger
  readonly namespace: string
  /** Account charged for the calls. Default: the ledger's name. */
  readonly account?: string
  readonly assignment: Assignment
  readonly split?: string
  readonly caps?: SharedCaps
  /** Count spending and caps from now on, not since the account was opened. */
  readonly isFromNow?: boolean
  /** Receives messages for the user: there is no worker, or a worker refuses the run. */
  readonly say?: (text: string) => void
}

/**
 * Lets workers make evaluations: queues them on PostgreSQL and reads the results from the shared ledger. Requests of one
 * turn of the event loop are submitted together.
 */
export class RemoteEvaluations {
  readonly #options: RemoteOptions
  readonly #assignment: string
  readonly #account: PostgresAllowanceStore
  readonly #bulletin: Bulletin
  readonly #before: Sums
  readonly #submission = randomUUID()
  readonly #results = new Awaited<Result>((names) => this.#look(names))
  readonly #submissions = new Batches<EvaluationWork, void>((batch) => this.#submit(batch))
  readonly #said = new Set<string>()
  #read: string[] = []
  #sums: Sums

  private constructor(
    options: RemoteOptions,
    assignment: string,
    { account, sums }: { readonly account: PostgresAllowanceStore; readonly sums: Sums },
  ) {
    this.#options = options
    this.#assignment = assignment
    this.#account = account
    this.#bulletin = new Bulletin(options.database)
    this.#before = sums
    this.#sums = sums
  }

  static async open(options: RemoteOptions): Promise<RemoteEvaluations> {
    const { database, caps, isFromNow = false } = options
    const { model, execution } = options.assignment.parts
    await migrateWork(database)
    const assignment = await putAssignment(database, options.assignment)
    const account = await PostgresAllowanceStore.open(database, {
      account: accountOf(options),
      limiter: limiterOf(model),
    })
    // All callers of this model keep to the run's limits.
    await account.setLimits(execution)
    const sums = await account.sums()
    if (caps !== undefined) await account.setCaps(isFromNow ? capsAfter(sums, caps) : caps)
    const remote = new RemoteEvaluations(options, assignment, { account, sums })
    await remote.#want()
    await remote.#bulletin.hear('magic_results', (name) => {
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
      this.#read.push(name)
      if (problem !== null)
        throw new Problem(`${problem.message} (Worker ${worker}.)`, { exitCode: problem.exitCode })
      const evaluation = await this.#options.ledger.find(work.key)
      if (evaluation === undefined) throw new Error(`The ledger lost the evaluation ${name}.`)
      return { evaluation, ...made! }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** What workers have spent, as of the last refresh. */
  readonly spent = (): Sums =>
    this.#options.isFromNow === true ? sumsSince(this.#before, this.#sums) : this.#sums

  /** The same since the account was opened. */
  readonly spentInAll = (): Sums => this.#sums

  readonly refresh = async (): Promise<void> => {
    this.#sums = await this.#account.sums()
  }

  /** Refreshes once the calls under way have ended, because they count too. Waits half a minute at most. */
  readonly settled = async (): Promise<void> => {
    for (let round = 0; round < 150; round += 1) {
      await this.refresh()
      if (this.#sums.reserved.calls === 0) return
      await sleep(200)
    }
  }

  /** The concurrent model calls of all workers that take this run. */
  async capacity(): Promise<number> {
    const rows = await this.#options.database.query<{ calls: number }>(
      `SELECT coalesce(sum(calls), 0) AS calls FROM magic_work.workers
       WHERE NOT draining AND leased_until > now()
         AND id NOT IN (SELECT worker FROM magic_work.refusals WHERE assignment = $1)`,
      [this.#assignment],
    )
    return rows[0]!.calls
  }

  async close(): Promise<void> {
    await this.#submissions.settled()
    await this.#tidy().catch(() => {})
    await this.#bulletin.close()
  }

  async #submit(batch: readonly EvaluationWork[]): Promise<undefined[]> {
    const { namespace: ledger, split = 'train', database } = this.#options
    const account = accountOf(this.#options)
    const jobs = batch.map(({ key, graph, task, requestReuse, isFresh }) => {
      const payload: EvaluationJob = {
        ...{ ledger, account, split, task: task.id, graph: graph.toJSON() },
        ...{ key, requestReuse, isFresh, submission: this.#submission },
      }
      return {
        identifier: taskName(this.#assignment),
        payload,
        job_key: this.#nameOf(key),
        max_attempts: 1000,
        // Longest first, because an update waits for its slowest evaluation.
        priority: -Math.max(0, ...graph.exitDepths),
      }
    })
    await database.query(
      `SELECT count(*) FROM graphile_worker.add_jobs(
         ARRAY(SELECT json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`,
      [JSON.stringify(jobs)],
    )
    return batch.map(() => undefined)
  }

  #nameOf(key: EvaluationKey): string {
    return resultName(this.#options.namespace, key)
  }

  async #withdraw(name: string): Promise<void> {
    await this.#options.database.query('SELECT graphile_worker.remove_job($1)', [name])
  }

  /** Results of another submission of the same work count too, since its trainer may have died. Its failures do not. */
  async #look(names: readonly string[]): Promise<Map<string, Result>> {
    const rows = await this.#options.database.query<Record<'name' | 'made' | 'problem' | 'worker', string>>(
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

  /** Keeps the assignment open, ends expired leases, and tells the user about problems. */
  async #attend(): Promise<void> {
    const { database } = this.#options
    await this.#want()
    await endExpiredLeases(database)
    await this.refresh()
    await this.#tidy()
    const refusals = await refusalsOf(database, this.#assignment)
    for (const { worker, reason } of refusals) this.#sayOnce(`Worker ${worker} refuses this run: ${reason}.`)
    if (this.#results.size === 0 || (await this.capacity()) > 0) return
    this.#sayOnce(
      refusals.length === 0
        ? 'There is no worker. Start one with `magic worker`; the run waits until then.'
        : 'No other worker is there. Start one that fits this run; the run waits until then.',
    )
  }

  async #want(): Promise<void> {
    await this.#options.database.query(
      `WITH wanted AS (
         INSERT INTO magic_work.assignments VALUES ($1, now() + $2 * interval '1 s')
         ON CONFLICT (digest) DO UPDATE SET wanted_until = excluded.wanted_until RETURNING digest)
       SELECT pg_notify('magic_assignments', digest) FROM wanted`,
      [this.#assignment, wantedSeconds],
    )
  }

  /** Deletes results a minute after they were read, because rates are measured over a minute. */
  async #tidy(): Promise<void> {
    const names = this.#read
    if (names.length === 0) return
    const gone = await this.#options.database.query<{ name: string }>(
      `DELETE FROM magic_work.results
       WHERE (name = ANY($1::text[]) AND submission = $2 AND at < now() - interval '1 minute')
         OR at < now() - $3 * interval '1 day' RETURNING name`,
      [textArray(names), this.#submission, keptDays],
    )
    const tidied = new Set(gone.map(({ name }) => name))
    this.#read = this.#read.filter((name) => !tidied.has(name))
  }

  #sayOnce(text: string): void {
    if (this.#said.has(text)) return
    this.#said.add(text)
    this.#options.say?.(text)
  }
}

function accountOf({ account, namespace }: RemoteOptions): string {
  return account ?? namespace
}

/** Raises caps by what was already spent, so that the given amounts are left. */
function capsAfter({ money, input, output, calls, unknown }: Sums, caps: SharedCaps): SharedCaps {
  const before = {
    cost: money + unknown.money,
    tokens: input + output + unknown.tokens,
    calls,
  }
  const names = (['cost', 'tokens', 'calls'] as const).filter((name) => caps[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, before[name] + caps[name]!]))
}
