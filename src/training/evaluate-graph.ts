import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Task } from '../library/task.ts'
import { ModelUnreachableError, stopError } from '../models/stop-error.ts'
import { evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import type { TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import type { TaskExecutor } from '../tasks/task-executor.ts'

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
