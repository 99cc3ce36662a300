import { graphKey } from '../graph/graph-key.ts'
import type { Task } from '../library/task.ts'
import { stopError } from '../models/model-refused.ts'
import { ModelUnreachableError } from '../models/model-unreachable.ts'
import { addCosts } from '../models/prices.ts'
import { addUsage } from '../models/usage.ts'
import { exitCode, Problem } from '../problem.ts'
import { type Evaluation, evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import type { TaskExecutor } from '../tasks/task-executor.ts'
import type { TaskSplit } from '../tasks/task-set.ts'
import type { Organisation } from './organisation.ts'
import { type OrganisationReport, organisationReport, type QuestionRecord } from './organisation-report.ts'

export interface OrganisationEvaluation {
  readonly executor: TaskExecutor
  /** A split of the executor's task set, by name, or questions of one's own. */
  readonly split: string | TaskSplit
  readonly organisation: Organisation
  /** So many questions from the start of the split; all by default. */
  readonly tasks?: number
  /** Once it is exhausted no further question is begun. */
  readonly budget?: { exhausted(): boolean }
  /** Cancels what runs. A question that was cut short has no record, and what it used is in no report. */
  readonly signal?: AbortSignal
  /** Hears of every new record, one after the other, before its place is given to the next question. */
  readonly onRecord?: (record: QuestionRecord, progress: EvaluationProgress) => void | Promise<void>
  /** Records of an interrupted evaluation by task id. Their questions are not run again. */
  readonly done?: ReadonlyMap<string, QuestionRecord>
  /** Questions in work at a time; by default four for every call in flight, which keeps all of those busy. */
  readonly inFlight?: number
}

export interface EvaluationProgress {
  /** Records there are, those of an interrupted evaluation included. */
  readonly done: number
  readonly total: number
}

/**
 * Runs an organisation's graphs on the questions of a split and scores the answers. Every call is made afresh: nothing is
 * taken from a ledger or a request cache. A question that fails scores zero and counts. A model that refuses all calls ends
 * it with a `ModelRefusedError`, one that cannot be reached with a `ModelUnreachableError`; what `onRecord` heard until then can be given as `done` later.
 */
export async function evaluateOrganisation(options: OrganisationEvaluation): Promise<OrganisationReport> {
  const { executor, organisation, onRecord, budget, done } = options
  const split = typeof options.split === 'string' ? executor.split(options.split) : options.split
  const tasks = split.tasks.slice(0, wholeFrom1(options.tasks ?? Number.POSITIVE_INFINITY, 'tasks'))
  const records = new Map(tasks.flatMap(({ id }) => (done?.has(id) ? [[id, done.get(id)!] as const] : [])))
  const waiting = tasks.filter(({ id }) => !records.has(id)).values()
  const mishap = new AbortController()
  const signal = AbortSignal.any([mishap.signal, ...(options.signal === undefined ? [] : [options.signal])])
  let told: Promise<void> = Promise.resolve()

  const work = async (): Promise<void> => {
    while (!signal.aborted && budget?.exhausted() !== true) {
      const next = waiting.next()
      if (next.done) return
      const task = next.value
      const record = await recordOf(executor, organisation, task, split.references.get(task.id), signal)
      if (record === undefined) return
      records.set(task.id, record)
      const progress = { done: records.size, total: tasks.length }
      told = told.then(() => onRecord?.(record, progress))
      await told
    }
  }
  const inFlight = wholeFrom1(options.inFlight ?? 4 * executor.parts.limit.limit, 'inFlight')
  const workers = Array.from({ length: Math.min(inFlight, tasks.length) }, () =>
    work().catch((error: unknown) => {
      mishap.abort(error)
      throw error
    }),
  )
  // Nothing is left running behind the caller's back: all come to their end before the first mishap is thrown.
  await Promise.allSettled(workers)
  if (mishap.signal.aborted) throw mishap.signal.reason
  if (records.size === 0) throw new NothingEvaluatedError(organisation.name, tasks.length)
  return organisationReport({
    organisation,
    split: typeof options.split === 'string' ? options.split : 'given',
    total: tasks.length,
    records: tasks.flatMap(({ id }) => records.get(id) ?? []),
  })
}

/** A question whose execution transport failures spoiled is asked again so often, before the evaluation stops. */
const rounds = 3

type Spending = Pick<Evaluation, 'usage' | 'cost'>

function added(before: Spending | undefined, { usage, cost }: Spending): Spending {
  if (before === undefined) return { usage, cost }
  return { usage: addUsage(before.usage, usage), cost: addCosts(before.cost, cost) }
}

/** Nothing where the signal cut it short: that is no result, good or bad. */
async function recordOf(
  executor: TaskExecutor,
  organisation: Organisation,
  task: Task,
  reference: unknown,
  signal: AbortSignal,
): Promise<QuestionRecord | undefined> {
  try {
    const graph = await organisation.graphFor(task)
    let lost: Spending | undefined
    for (let round = 1; ; round += 1) {
      const execution = await executor.run(graph, task, { signal })
      if (execution.stop !== undefined) throw stopError(execution.stop)
      if (execution.status === 'aborted') return undefined
      const spent = added(lost, execution)
      // What a network or an overloaded server did is no answer, not even a wrong one; yet it has cost something.
      if (!isSettled(execution.trace)) {
        if (execution.status === 'timed_out' || round === rounds)
          throw ModelUnreachableError.afterRetries(
            task.id,
            execution.failures.find(({ status }) => status === 'model_failure')?.reason,
          )
        lost = spent
        continue
      }
      const score = await executor.score(execution, reference, signal)
      const { reused: _, ...evaluation } = evaluationOf(execution, score)
      return { task: task.id, graph: graph.toJSON(), graphKey: graphKey(graph), ...evaluation, ...spent }
    }
  } catch (error) {
    // A scorer that runs programs throws the signal's reason.
    if (signal.aborted && error === signal.reason) return undefined
    throw error
  }
}

function wholeFrom1(value: number, name: string): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= 1)) return value
  throw new RangeError(`'${name}' is ${value}; it must be a whole number, 1 or more.`)
}

/** A mean of nothing is no score, least of all zero. */
export class NothingEvaluatedError extends Problem {
  constructor(organisation: string, total: number) {
    super(
      total === 0
        ? `The organisation '${organisation}' cannot be evaluated: there are no questions.`
        : `The evaluation of '${organisation}' was ended before the first of ${total} questions was answered: there is no score.`,
      { exitCode: exitCode.failed },
    )
  }
}
