import { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { cancelled } from '../models/chat-model.ts'
import { runPriceOf } from '../models/prices.ts'
import type { Allowance } from '../models/retry.ts'
import { Problem } from '../problem.ts'
import { CallAllowance } from '../store/allowance/call-allowance.ts'
import { PostgresAllowanceStore } from '../store/allowance/postgres-store.ts'
import { type Evaluation, type EvaluationKey, evaluationDigest } from '../store/ledger/evaluation.ts'
import { memoryIn } from '../store/ledger/ledger-memory.ts'
import { LeaseLost, PostgresLedger } from '../store/ledger/postgres.ts'
import type { Database } from '../store/postgres/database.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, taskVersion } from '../tasks/task-set.ts'
import { type EvaluationRules, evaluationsHere } from '../training/evaluate-graph.ts'
import type { MakeEvaluation } from '../training/make-evaluation.ts'
import type { Claims } from './claims.ts'
import {
  type EvaluationJob,
  limiterOf,
  resultName,
  type ToldEvaluation,
  type ToldProblem,
} from './evaluation-job.ts'
import type { Lease } from './lease.ts'

interface Place {
  readonly ledger: PostgresLedger
  readonly allowance: CallAllowance
  readonly make: MakeEvaluation
}

/** Makes the evaluations of one assignment, with the same code as a trainer without workers. */
export function openDesk({
  database,
  parts,
  rules,
  claims,
  lease,
}: {
  readonly database: Database
  readonly parts: ExecutorParts
  readonly rules: EvaluationRules | undefined
  readonly claims: Claims
  readonly lease: Lease
}) {
  const executor = new TaskExecutor(parts)
  const places = new Map<string, Promise<Place>>()
  const openPlace = async (namespace: string, account: string): Promise<Place> => {
    const ledger = await PostgresLedger.open(database, { name: namespace, lease: lease.id })
    const memory = memoryIn(ledger, undefined, claims.on(namespace, parts.limit))
    const store = await PostgresAllowanceStore.open(database, {
      account,
      limiter: limiterOf(parts.model.identity),
    })
    const { attemptSeconds } = parts.settings
    const allowance = new CallAllowance(store, {
      price: runPriceOf(parts),
      leaseMs: attemptSeconds * 1000 + 60_000,
    })
    const make = evaluationsHere({ ...parts, allowance: underLease(allowance, lease) }, memory, ledger, rules)
    return { ledger, allowance, make }
  }
  const placeOf = ({ ledger, account }: EvaluationJob) => {
    const name = `${ledger} ${account}`
    const place = places.get(name) ?? openPlace(ledger, account)
    places.set(name, place)
    // If it fails, the next job tries again.
    place.catch(() => places.delete(name))
    return place
  }

  /** Reports a result to the trainer, if the lease still holds. The first result of a submission wins. */
  const tell = async (
    { ledger, key, submission }: EvaluationJob,
    { made, problem }: { readonly made?: ToldEvaluation; readonly problem?: ToldProblem },
  ) => {
    const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
    const held = await database.query(
      `WITH held AS (SELECT id FROM magic_work.workers WHERE id = $3 FOR KEY SHARE),
         told AS (INSERT INTO magic_work.results (name, submission, worker, made, problem)
                  SELECT $1, $2, $6, $4::jsonb, $5::jsonb FROM held ON CONFLICT DO NOTHING)
       SELECT pg_notify('magic_results', $1) FROM held`,
      [resultName(ledger, key), submission, lease.id, json(made), json(problem), lease.name],
    )
    if (held.length === 0) throw new LeaseLost()
  }

  return {
    async work(job: EvaluationJob, signal: AbortSignal): Promise<void> {
      const { ledger, allowance, make } = await placeOf(job)
      const known = await ledger.find(job.key)
      // Another worker stored it but died before reporting it.
      if (known !== undefined)
        return tell(job, { made: { executions: [spentOn(known)], calls: { made: {}, executions: [] } } })
      const { tasks, references } = splitOf(parts.set, job.split)
      const task = tasks.find(({ id }) => id === job.task)!
      const reference = references.get(job.task)
      const graph = AgentGraph.from(job.graph)
      const key: EvaluationKey = {
        ...{ graph: graphKey(graph), task: job.task, dataVersion: taskVersion(parts.set, task, reference) },
        executor: executor.fingerprint(task),
      }
      if (evaluationDigest(key) !== evaluationDigest(job.key))
        throw new Problem(`This worker would evaluate task '${job.task}' differently from the run.`)
      const { requestReuse, isFresh } = job
      const made = await make({ key, graph, task, reference, requestReuse, isFresh }, signal)
      await ledger.keep(key, made.evaluation, made.trace!)
      const { executions, calls } = made
      // The trainer reads the spending together with the result, so it must be stored first.
      await allowance.settled()
      await tell(job, { made: { executions, calls } })
    },
    fail: (job: EvaluationJob, problem: ToldProblem) => tell(job, { problem }),
  }
}

/** Checks the lease right before each call: once it is lost, other workers make the call. */
function underLease(allowance: Allowance, lease: Lease): Allowance {
  return {
    async admit(request, signal) {
      const settle = await allowance.admit(request, signal)
      if (settle === undefined) return undefined
      try {
        await lease.held()
        return settle
      } catch {
        settle({ ...cancelled, unsent: true })
        return undefined
      }
    },
  }
}

function spentOn({ usage, reused, cost }: Evaluation): ToldEvaluation['executions'][number] {
  return { usage, reused, cost }
}
