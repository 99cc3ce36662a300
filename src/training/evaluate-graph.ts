import { type Disturbance, interferenceOf } from '../execution/disturbance.ts'
import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import type { Memory } from '../execution/once.ts'
import { rememberTools } from '../execution/remembered-tools.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Task } from '../library/task.ts'
import type { Call } from '../models/retry.ts'
import { ModelUnreachableError, stopError } from '../models/stop-error.ts'
import { usageOfCall } from '../models/usage.ts'
import { evaluationDigest, evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { LedgerMemory, TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { CallPaths } from './call-path.ts'
import type { MadeEvaluation, MakeEvaluation } from './make-evaluation.ts'

/** How an execution counts if it has no answer because the model could not be reached: not at all (`stop`), or as zero. */
export type TransportRule = 'stop' | 'zero'

/** What applies to all evaluations of an organisation besides tasks, model and settings, as plain data. */
export interface EvaluationRules {
  readonly transportFailures?: TransportRule
  readonly disturbance?: Disturbance
}

/** Most executions per evaluation. Replies a run has stored are not requested again. */
const rounds = 3

/**
 * Runs a graph on a task and scores it. A transport failure is not a wrong answer: an execution spoiled by one is
 * repeated, and after the last attempt it throws. Under the paper's rule, `transportFailures: 'zero'`, there is a
 * single execution, which scores 0 if it has no answer. `onExecution` is called for every execution, since each one
 * costs something.
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

/** Like `evaluateGraph`, for anything that executes: a graph or a driving organisation. */
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
    const problem = `The model could not be reached for task '${task.id}', after all retries.`
    const last = failures.find(({ status }) => status === 'model_failure')?.reason
    throw new ModelUnreachableError(last === undefined ? problem : `${problem} The last failure: ${last}`)
  }
}

/** Makes evaluations in this process. Replies and tool observations are stored in the ledger as they arrive. */
export function evaluationsHere(
  parts: ExecutorParts,
  memory: LedgerMemory,
  ledger: Pick<Ledger, 'keepTrace'>,
  { transportFailures, disturbance }: EvaluationRules = {},
): MakeEvaluation {
  // A resumed run must see the same tool observations, and no program should run twice.
  const executor = new TaskExecutor({
    ...parts,
    tools: rememberTools(parts.tools, memory.observations),
    replies: memory.replies,
  })
  return async ({ key, graph, task, reference, requestReuse, isFresh = false }, signal) => {
    const scope = requestReuse ? '' : `${evaluationDigest(key)}.`
    const paths = new CallPaths()
    const executions: MadeEvaluation['executions'][number][] = []
    const replies: Memory<Call> = {
      async once(digest, make, until) {
        const found = await memory.replies.once(scope + digest, make, until)
        const { reply } = found.value
        if (found.origin === 'made' && reply.ok) paths.made(scope + digest, reply.durationMs)
        return found
      },
    }
    const onExecution = async ({ usage, reused, cost, trace }: Execution) => {
      executions.push({ usage, reused, cost })
      // It gave no result, but still cost something.
      if (!isSettled(trace)) await ledger.keepTrace(trace)
    }
    const interference = disturbance && interferenceOf(disturbance, task)
    const given = { signal, onEvent: paths.listener(scope), onExecution, transportFailures, interference }
    const own = eachOnce(replies)
    const made = isFresh
      ? await evaluateGraph(new TaskExecutor({ ...parts, replies: own }), graph, task, reference, {
          ...given,
          replies: own,
        })
      : await evaluateGraph(executor, graph, task, reference, { ...given, replies })
    return { ...made, executions, calls: paths.record }
  }
}

/**
 * Gives every request a reply of its own, even if it is repeated. A stored reply counts as made, because it was made
 * for this graph.
 */
function eachOnce(replies: Memory<Call>): Memory<Call> {
  const times = new Map<string, number>()
  return {
    async once(digest, make, signal) {
      const time = times.get(digest) ?? 0
      times.set(digest, time + 1)
      const found = await replies.once(`${time}.${digest}`, make, signal)
      if (found.origin !== 'kept') return found
      const { reply } = found.value
      const attempts = [{ reply, startedAt: Date.now() }]
      const value = { reply, attempts, usage: usageOfCall(attempts) }
      return { ...found, origin: 'made', value }
    },
  }
}
