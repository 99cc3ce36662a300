import { z } from 'zod'
import { type Disturbance, interferenceOf } from '../execution/disturbance.ts'
import { executeDrive } from '../execution/execute-drive.ts'
import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import { boundedText, boundedValue } from '../execution/length-budget.ts'
import type { Trace } from '../execution/trace/trace.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Task } from '../library/task.ts'
import { addCosts } from '../models/prices.ts'
import { addUsage } from '../models/usage.ts'
import { isDriver, type Organisation } from '../organisations/organisation.ts'
import { exitCode, isCapReached, Problem, validated } from '../problem.ts'
import type { Spent } from '../store/budget.ts'
import type { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, type TaskSet, taskVersion } from '../tasks/task-set.ts'
import { evaluateRun, type TransportRule } from '../training/evaluate-graph.ts'
import type { Elsewhere } from '../training/train-options.ts'
import {
  type AskedQuestion,
  type OrganisationReport,
  organisationReport,
  type QuestionRecord,
} from './organisation-report.ts'

export interface OrganisationEvaluation {
  readonly executor: TaskExecutor
  readonly split: string
  readonly organisation: Organisation
  /** Evaluate only the first this many questions. Default: all. */
  readonly tasks?: number
  /** Once exhausted, no further question is started. */
  readonly budget?: { exhausted(): boolean }
  /** Cancels everything under way. An unfinished question gets no record, and its usage is in no report. */
  readonly signal?: AbortSignal
  /** Called for each new record, one at a time, before the next question starts. */
  readonly onRecord?: (record: QuestionRecord, progress: EvaluationProgress) => void | Promise<void>
  /** Called with the trace of each answer, and awaited before `onRecord`. */
  readonly onTrace?: (trace: Trace) => void | Promise<void>
  /** Records of an interrupted evaluation, by task id. Their questions are not run again. */
  readonly done?: ReadonlyMap<string, QuestionRecord>
  /** Concurrent questions. Default: four per concurrent call, which keeps all calls busy. */
  readonly inFlight?: number
  /** What to do if the model cannot be reached. Default: stop. The paper counts the question as wrong. */
  readonly transportFailures?: TransportRule
  /** Runs the graphs in other processes, which know `transportFailures` and `disturbance`, and returns their traces. */
  readonly elsewhere?: ElsewhereAfresh
  /** Disturbs every execution on purpose (see `interventions.ts`). */
  readonly disturbance?: Disturbance
}

export interface ElsewhereAfresh extends Elsewhere {
  findTrace(execution: string): Promise<Trace | undefined>
  /** The total of concurrent model calls that they may make. */
  capacity(): Promise<number>
  /** Deletes what was kept for a repetition, once the evaluation is complete. */
  remove(): Promise<void>
}

/** The abort reason at a cap: ending unfinished questions there is not a failure. */
const atCap = Symbol('cap')

const counts = z.object({ tasks: z.int().min(1).optional(), inFlight: z.int().min(1).optional() })

export interface EvaluationProgress {
  /** Number of records, including those of an interrupted evaluation. */
  readonly done: number
  readonly total: number
}

/**
 * Runs an organisation's graphs on the questions of a split and scores the answers. Every call is made anew: nothing
 * is taken from a ledger or a cache. A question that fails scores zero and counts. Throws `ModelRefusedError` if the
 * model refuses all calls, and `ModelUnreachableError` if it is gone; the records so far can be passed as `done`
 * later.
 */
export async function evaluateOrganisation(options: OrganisationEvaluation): Promise<OrganisationReport> {
  const { executor, split, organisation, onRecord, budget, done } = options
  const given = validated(counts, options, 'evaluation')
  const { inFlight = 4 * executor.parts.limit.limit } = given
  const { tasks: all, references } = splitOf(executor.parts.set, split)
  const tasks = all.slice(0, given.tasks)
  const records = new Map(tasks.flatMap(({ id }) => (done?.has(id) ? [[id, done.get(id)!] as const] : [])))
  const waiting = tasks.filter(({ id }) => !records.has(id)).values()
  const failure = new AbortController()
  const signal = AbortSignal.any([failure.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const { transportFailures, disturbance, elsewhere } = options
  const means = { signal, transportFailures, disturbance, elsewhere }
  let told: Promise<void> = Promise.resolve()

  const work = async (): Promise<void> => {
    while (!signal.aborted && budget?.exhausted() !== true) {
      const { value: task } = waiting.next()
      if (task === undefined) return
      const made = await recordOf(executor, organisation, task, references.get(task.id), means)
      if (made === undefined) return
      const { record, trace } = made
      await options.onTrace?.(trace)
      records.set(task.id, record)
      const progress = { done: records.size, total: tasks.length }
      told = told.then(() => onRecord?.(record, progress))
      await told
    }
  }
  // If other processes make the calls, a cap ends unfinished questions. Their replies are stored and can be reused later.
  const end = (error: unknown) => failure.abort(isCapReached(error) ? atCap : error)
  const workers = Array.from({ length: Math.min(inFlight, tasks.length) }, () => work().catch(end))
  // All workers end before the first error is thrown, so that nothing keeps running.
  await Promise.all(workers)
  if (failure.signal.aborted && failure.signal.reason !== atCap) throw failure.signal.reason
  if (records.size === 0) throw new NothingEvaluatedError(organisation.name, tasks.length)
  const { name, description, fidelity } = organisation
  const reported = { organisation: name, description, fidelity, split, tasks: tasks.length }
  return organisationReport(
    reported,
    tasks.flatMap(({ id }) => records.get(id) ?? []),
  )
}

/** Undefined if the signal interrupted it: that is no result. */
async function recordOf(
  executor: TaskExecutor,
  organisation: Organisation,
  task: Task,
  reference: unknown,
  {
    signal,
    elsewhere,
    disturbance,
    transportFailures,
  }: Pick<OrganisationEvaluation, 'transportFailures' | 'disturbance' | 'elsewhere'> & {
    readonly signal: AbortSignal
  },
): Promise<{ record: QuestionRecord; trace: Trace } | undefined> {
  // Includes failed executions, which cost something too.
  const executions: (Pick<Execution, 'usage' | 'cost' | 'graph'> & Partial<Pick<Execution, 'notes'>>)[] = []
  const onExecution = (execution: Execution) => void executions.push(execution)
  const { set } = executor.parts
  const madeElsewhere = async (graph: AgentGraph, { make, findTrace }: ElsewhereAfresh) => {
    const dataVersion = taskVersion(set, task, reference)
    const key = { graph: graphKey(graph), task: task.id, dataVersion, executor: executor.fingerprint(task) }
    const work = { key, graph, task, reference, requestReuse: false, isFresh: true }
    const made = await make(work, signal)
    executions.push(...made.executions.map((execution) => ({ ...execution, graph })))
    return { evaluation: made.evaluation, trace: (await findTrace(made.evaluation.execution))! }
  }
  try {
    const interference = disturbance && interferenceOf(disturbance, task)
    const means = { signal, transportFailures, interference, onExecution }
    const made =
      elsewhere === undefined
        ? await evaluateRun(executor, await runOf(organisation, task), task, reference, means)
        : await madeElsewhere(await graphOf(organisation, task), elsewhere)
    const { reused: _, ...evaluation } = made.evaluation
    const { graph, notes } = executions.at(-1)!
    const record = {
      task: task.id,
      ...(executor.parts.settings.traceContent && askedOf(set, task, reference)),
      graph: graph.toJSON(),
      graphKey: graphKey(graph),
      ...(notes !== undefined && { notes }),
      ...evaluation,
      usage: addUsage(...executions.map(({ usage }) => usage)),
      cost: executions.map(({ cost }) => cost).reduce(addCosts),
    }
    return { record, trace: made.trace }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined
    throw error
  }
}

/** The graph for workers to run. A driving organisation has none. */
function graphOf(organisation: Organisation, task: Task): AgentGraph | Promise<AgentGraph> {
  if (!isDriver(organisation)) return organisation.graphFor(task)
  throw new Problem(
    `${organisation.name} decides step by step whom to ask, so it has no graph for workers. Evaluate it without them.`,
  )
}

/** How to execute a task: by its graph, or driven by the organisation. */
async function runOf(organisation: Organisation, task: Task) {
  if (isDriver(organisation)) {
    const { drive } = organisation
    return (given: Omit<ExecutionOptions, 'graph'>) => executeDrive({ ...given, drive })
  }
  const graph = await organisation.graphFor(task)
  return (given: Omit<ExecutionOptions, 'graph'>) => executeGraph({ ...given, graph })
}

/** Questions may contain megabytes; their records do not keep them. */
const longestKept = 16_000

/** Question and expected answer, so that a record can be read without its task set. */
export function askedOf({ scorer }: Pick<TaskSet, 'scorer'>, task: Task, reference: unknown): AskedQuestion {
  const expected = scorer.solution?.(reference)?.answer
  return {
    question: boundedText(task.question, longestKept),
    options: task.options,
    expected: expected === undefined ? undefined : JSON.parse(boundedValue(expected, longestKept)),
  }
}

/** Thrown instead of reporting the mean of no scores. */
export class NothingEvaluatedError extends Problem {
  /** Spending up to then, if it was counted. */
  spent?: Spent

  constructor(organisation: string, total: number) {
    super(
      total === 0
        ? `The organisation '${organisation}' cannot be evaluated: there are no questions.`
        : `The evaluation of '${organisation}' ended before the first of ${total} questions was answered, so there is no score.`,
      { exitCode: exitCode.failed },
    )
  }
}
