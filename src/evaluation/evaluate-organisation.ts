import { z } from 'zod'
import { executeDrive } from '../execution/execute-drive.ts'
import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions, Interference } from '../execution/execution.ts'
import { boundedText, boundedValue } from '../execution/length-budget.ts'
import type { Trace } from '../execution/trace/trace.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Task } from '../library/task.ts'
import { addCosts } from '../models/prices.ts'
import { addUsage } from '../models/usage.ts'
import { isDriver, type Organisation } from '../organisations/organisation.ts'
import { exitCode, Problem, validated } from '../problem.ts'
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
  /** Only this many questions, from the start of the split; all by default. */
  readonly tasks?: number
  /** Once it is exhausted no further question is begun. */
  readonly budget?: { exhausted(): boolean }
  /** Cancels what runs. A question that was cut short has no record, and what it used is in no report. */
  readonly signal?: AbortSignal
  /** Called for each new record, one at a time, before the next question takes its place. */
  readonly onRecord?: (record: QuestionRecord, progress: EvaluationProgress) => void | Promise<void>
  /** Called with the trace of each answer, and awaited before its record is told. */
  readonly onTrace?: (trace: Trace) => void | Promise<void>
  /** Records of an interrupted evaluation by task id. Their questions are not run again. */
  readonly done?: ReadonlyMap<string, QuestionRecord>
  /** Questions in work at a time; by default four for every call in flight, which keeps all of those busy. */
  readonly inFlight?: number
  /** Stops by default where the model cannot be reached; the paper counts such a question as wrong. */
  readonly transportFailures?: TransportRule
  /** Has the graphs run elsewhere, and gives their traces. */
  readonly elsewhere?: ElsewhereAfresh
  /** Disturbs the execution of a task on purpose. */
  readonly interference?: (task: Task) => Interference
}

export interface ElsewhereAfresh extends Elsewhere {
  findTrace(execution: string): Promise<Trace | undefined>
  /** Model calls that they may have in flight together. */
  capacity(): Promise<number>
}

const counts = z.object({ tasks: z.int().min(1).optional(), inFlight: z.int().min(1).optional() })

export interface EvaluationProgress {
  /** Records there are, those of an interrupted evaluation included. */
  readonly done: number
  readonly total: number
}

/**
 * Runs an organisation's graphs on the questions of a split and scores the answers. Every call is made afresh: nothing is
 * taken from a ledger or a request cache. A question that fails scores zero and counts. A model that refuses all calls ends
 * it with a `ModelRefusedError`, one that is gone with a `ModelUnreachableError`; the records until then can be given as
 * `done` later.
 */
export async function evaluateOrganisation(options: OrganisationEvaluation): Promise<OrganisationReport> {
  const { executor, split, organisation, onRecord, budget, done } = options
  const given = validated(counts, options, 'evaluation')
  const { inFlight = 4 * executor.parts.limit.limit } = given
  const { tasks: all, references } = splitOf(executor.parts.set, split)
  const tasks = all.slice(0, given.tasks)
  const records = new Map(tasks.flatMap(({ id }) => (done?.has(id) ? [[id, done.get(id)!] as const] : [])))
  const waiting = tasks.filter(({ id }) => !records.has(id)).values()
  const mishap = new AbortController()
  const signal = AbortSignal.any([mishap.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const { transportFailures, interference, elsewhere } = options
  const means = { signal, transportFailures, interference, elsewhere }
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
  const workers = Array.from({ length: Math.min(inFlight, tasks.length) }, () =>
    work().catch((error: unknown) => mishap.abort(error)),
  )
  // All workers end before the first mishap is thrown, so that nothing is left running.
  await Promise.all(workers)
  if (mishap.signal.aborted) throw mishap.signal.reason
  if (records.size === 0) throw new NothingEvaluatedError(organisation.name, tasks.length)
  const { name, description, fidelity } = organisation
  const reported = { organisation: name, description, fidelity, split, tasks: tasks.length }
  return organisationReport(
    reported,
    tasks.flatMap(({ id }) => records.get(id) ?? []),
  )
}

/** Nothing where the signal cut it short: that is no result, good or bad. */
async function recordOf(
  executor: TaskExecutor,
  organisation: Organisation,
  task: Task,
  reference: unknown,
  {
    signal,
    elsewhere,
    interference,
    transportFailures,
  }: Pick<OrganisationEvaluation, 'transportFailures' | 'interference' | 'elsewhere'> & {
    readonly signal: AbortSignal
  },
): Promise<{ record: QuestionRecord; trace: Trace } | undefined> {
  // Executions that came to nothing have cost something too.
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
    const means = { signal, transportFailures, interference: interference?.(task), onExecution }
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

/** The graph that others are to run. An organisation that decides as it goes cannot be handed on. */
function graphOf(organisation: Organisation, task: Task): AgentGraph | Promise<AgentGraph> {
  if (!isDriver(organisation)) return organisation.graphFor(task)
  throw new Problem(
    `${organisation.name} decides as it goes what to ask next, so it has no graph for workers: evaluate it without them.`,
  )
}

/** How a task is executed: by its graph, or as the organisation decides. */
async function runOf(organisation: Organisation, task: Task) {
  if (isDriver(organisation)) {
    const { drive } = organisation
    return (given: Omit<ExecutionOptions, 'graph'>) => executeDrive({ ...given, drive })
  }
  const graph = await organisation.graphFor(task)
  return (given: Omit<ExecutionOptions, 'graph'>) => executeGraph({ ...given, graph })
}

/** A question may bring megabytes along; its record need not keep them. */
const longestKept = 16_000

/** What was asked and what was expected, so that a record can be read without its task set. */
export function askedOf({ scorer }: Pick<TaskSet, 'scorer'>, task: Task, reference: unknown): AskedQuestion {
  const expected = scorer.solution?.(reference)?.answer
  return {
    question: boundedText(task.question, longestKept),
    options: task.options,
    expected: expected === undefined ? undefined : JSON.parse(boundedValue(expected, longestKept)),
  }
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
