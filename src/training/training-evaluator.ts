import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import type { Memory } from '../execution/once.ts'
import { rememberTools } from '../execution/remembered-tools.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphScore } from '../learning/update.ts'
import type { Task } from '../library/task.ts'
import { addCosts, costOf, type Price, priceOf } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { ModelUnreachableError, stopError } from '../models/stop-error.ts'
import { addUsage } from '../models/usage.ts'
import { failPoint } from '../store/fail-point.ts'
import { type Evaluation, evaluationDigest, evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import { memoryIn, type TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, taskVersion } from '../tasks/task-set.ts'
import { CallPaths } from './call-path.ts'

/** What an execution without an answer counts as where the model could not be reached: nothing, or zero. */
export type TransportRule = 'stop' | 'zero'

/** Executions at most for one evaluation. Answers that a run keeps are not asked for again in the next one. */
const rounds = 3

/**
 * Runs a graph on a task and scores it. What a network or an overloaded server did is no answer, not even a wrong one: an
 * execution that transport failures spoiled is begun again, and after the last time it throws. By the paper's rule,
 * `transportFailures: 'zero'`, there is one execution: what it answers is scored, and without an answer it scores 0.
 * `onExecution` is called for every one, since all have cost something.
 */
export async function evaluateGraph(
  executor: TaskExecutor,
  graph: AgentGraph,
  task: Task,
  reference: unknown,
  options?: EvaluationMeans,
): Promise<Required<TracedEvaluation>> {
  const run = (given: Omit<ExecutionOptions, 'graph'>) => executeGraph({ ...given, graph })
  return evaluateRun(executor, run, task, reference, options)
}

export interface EvaluationMeans
  extends Pick<ExecutionOptions, 'signal' | 'replies' | 'onEvent' | 'interference'> {
  readonly transportFailures?: TransportRule
  readonly onExecution?: (execution: Execution) => void | Promise<void>
}

/** The same for anything that executes: a graph, or an organisation that drives. */
export async function evaluateRun(
  executor: TaskExecutor,
  run: (given: Omit<ExecutionOptions, 'graph'>) => Promise<Execution>,
  task: Task,
  reference: unknown,
  { onExecution, transportFailures = 'stop', ...options }: EvaluationMeans = {},
): Promise<Required<TracedEvaluation>> {
  const { signal } = options
  for (let round = 1; ; round += 1) {
    const given = { ...executor.optionsFor(task), ...options }
    const execution = await executor.watched(task, () => run(given))
    await onExecution?.(execution)
    const { status, stop, failures, trace } = execution
    if (stop !== undefined) throw stopError(stop)
    if (status === 'aborted') throw signal!.reason
    if (transportFailures === 'zero' || isSettled(trace)) {
      const score = await executor.score(execution, reference, signal)
      return { evaluation: evaluationOf(execution, score), trace }
    }
    if (status !== 'timed_out' && round < rounds) continue
    const problem = `The model could not be reached for an answer about task '${task.id}', after all retries.`
    const last = failures.find(({ status }) => status === 'model_failure')?.reason
    throw new ModelUnreachableError(last === undefined ? problem : `${problem} The last failure: ${last}`)
  }
}

/** What is learned from an evaluation. */
export function graphScore(
  { score, usage, reused }: Evaluation,
  price?: Price,
): GraphScore & Required<Pick<GraphScore, 'usage'>> {
  // Reused calls count too: a penalty must not depend on what the ledger knew.
  const all = addUsage(usage, reused)
  // Nor on the hour.
  const cost = costOf(all, price && { ...price, peak: undefined }, new Date(0))
  const { calls, input, output } = all
  return {
    score,
    usage: { calls, tokens: input + output },
    ...(cost !== 'unpriced' && { cost: cost.amount }),
  }
}

/** What the evaluations of one update took. */
export type EvaluationTally = ReturnType<ReturnType<typeof openEvaluator>['take']>

/** Evaluates graphs on training tasks: from the ledger where they are known, else by running and scoring them. */
export function openEvaluator(options: {
  readonly parts: ExecutorParts
  readonly ledger: Ledger
  /** Whether identical requests of different graphs are one. */
  readonly requestReuse: boolean
  /** Ends everything at once; what was answered is kept. */
  readonly signal?: AbortSignal
}) {
  const { parts, ledger, requestReuse } = options
  const price = priceOf(parts.model.identity, parts.settings.prices)
  const { tasks, references } = splitOf(parts.set, 'train')
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const versions = new Map<string, string>()
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const underWay = new Set<Promise<unknown>>()
  let paths = new CallPaths()
  let executions: Pick<Execution, 'usage' | 'reused' | 'cost'>[] = []
  let known = 0

  const memory = memoryIn(ledger, (digest, { durationMs }) => {
    paths.made(digest, durationMs)
    failPoint('after:call')
  })
  // A resumed run must see what its tools saw, and no program is run twice.
  const executor = new TaskExecutor({
    ...parts,
    tools: rememberTools(parts.tools, memory.observations),
    replies: memory.replies,
  })

  const onExecution = async ({ usage, reused, cost, trace }: Execution) => {
    executions.push({ usage, reused, cost })
    // No result, yet it has cost something.
    if (!isSettled(trace)) await ledger.keepTrace(trace)
  }

  const versionOf = (task: Task) => {
    const version = versions.get(task.id) ?? taskVersion(parts.set, task, references.get(task.id))
    versions.set(task.id, version)
    return version
  }

  const scoreOf = async (graph: AgentGraph, task: Task): Promise<GraphScore> => {
    const key = {
      graph: graphKey(graph),
      task: task.id,
      dataVersion: versionOf(task),
      executor: executor.fingerprint(task),
    }
    const scope = requestReuse ? '' : `${evaluationDigest(key)}.`
    const replies: Memory<Call> = { once: (digest, ...rest) => memory.replies.once(scope + digest, ...rest) }
    const make = async (until: AbortSignal) => {
      const given = { signal: until, replies, onEvent: paths.listener(scope), onExecution }
      return { value: await evaluateGraph(executor, graph, task, references.get(task.id), given), keep: true }
    }
    try {
      const { value, origin } = await memory.evaluations.once(key, make, signal)
      if (origin === 'kept') known += 1
      if (origin === 'made') failPoint('after:evaluation')
      signal.throwIfAborted()
      return graphScore(value.evaluation, price)
    } catch (error) {
      // Nothing of this update will be used: what else is under way ends too.
      stop.abort(error)
      throw signal.reason
    }
  }

  return {
    evaluate: (graph: AgentGraph, id: string): Promise<GraphScore> => {
      const scored = scoreOf(graph, byId.get(id)!).finally(() => underWay.delete(scored))
      underWay.add(scored)
      return scored
    },
    /** What was evaluated since the last time this was asked. */
    take() {
      const [first, ...others] = executions.map(({ cost }) => cost)
      const tally = {
        made: executions.length,
        /** Found in the ledger. */
        known,
        usage: addUsage(...executions.map(({ usage }) => usage)),
        /** What identical requests saved. */
        reused: addUsage(...executions.map(({ reused }) => reused)),
        cost: first === undefined ? ('unpriced' as const) : others.reduce(addCosts, first),
        /** The shortest time that their calls allowed. */
        boundMs: Math.max(paths.criticalMs, paths.workMs / parts.limit.limit),
      }
      paths = new CallPaths()
      executions = []
      known = 0
      return tally
    },
    /** Resolves once nothing is under way any more and all of it is in the ledger, which can be closed then. */
    async ended(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}
