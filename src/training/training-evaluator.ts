import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import type { Memory } from '../execution/once.ts'
import { rememberTools } from '../execution/remembered-tools.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphScore } from '../learning/update.ts'
import type { Task } from '../library/task.ts'
import { stopError } from '../models/model-refused.ts'
import { ModelUnreachableError } from '../models/model-unreachable.ts'
import { addCosts, type Cost } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { failPoint } from '../store/fail-point.ts'
import { evaluationDigest, evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import type { EvaluationLedger } from '../store/ledger/evaluation-ledger.ts'
import { type LedgerMemory, memoryIn, type TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, type TaskSplit, taskVersion } from '../tasks/task-set.ts'
import { CallPaths } from './call-path.ts'

/** Executions at most for one evaluation. Answers that a run keeps are not asked for again in the next one. */
const rounds = 5

/**
 * Runs a graph on a task and scores it. What a network or an overloaded server did is no answer, not even a wrong one: an
 * execution that transport failures spoiled is begun again. `onExecution` is told of every one, since all have cost something.
 */
export async function evaluateGraph(
  executor: TaskExecutor,
  graph: AgentGraph,
  task: Task,
  reference: unknown,
  {
    onExecution,
    ...options
  }: Pick<ExecutionOptions, 'signal' | 'replies' | 'onEvent'> & {
    readonly onExecution?: (execution: Execution) => void | Promise<void>
  } = {},
): Promise<Required<TracedEvaluation>> {
  const { signal } = options
  for (let round = 1; ; round += 1) {
    const given = { ...executor.optionsFor(task), ...options, graph }
    const execution = await executor.watched(task, () => executeGraph(given))
    await onExecution?.(execution)
    const { status, stop, failures, trace } = execution
    if (stop !== undefined) throw stopError(stop)
    if (status === 'aborted') throw signal!.reason
    if (isSettled(trace)) {
      const score = await executor.score(execution, reference, signal)
      return { evaluation: evaluationOf(execution, score), trace }
    }
    if (status === 'timed_out' || round === rounds)
      throw ModelUnreachableError.afterRetries(task.id, failures.find(({ reason }) => reason)?.reason)
  }
}

/** What the evaluations of one update took. */
export interface EvaluationTally {
  readonly made: number
  /** Found in the ledger. */
  readonly known: number
  readonly usage: Usage
  /** What identical requests saved. */
  readonly reused: Usage
  readonly cost: Cost
  /** The shortest time that their calls allowed. */
  readonly boundMs: number
}

/** Evaluates graphs on training tasks: from the ledger where they are known, else by running and scoring them. */
export class TrainingEvaluator {
  readonly #executor: TaskExecutor
  readonly #ledger: EvaluationLedger
  readonly #reuse: boolean
  readonly #stop = new AbortController()
  readonly #split: TaskSplit
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #versions = new Map<string, string>()
  readonly #memory: LedgerMemory
  readonly #underWay = new Set<Promise<unknown>>()
  #paths = new CallPaths()
  #sums = emptySums()

  constructor(options: {
    readonly parts: ExecutorParts
    readonly ledger: EvaluationLedger
    /** Whether identical requests of different graphs are one. */
    readonly requestReuse: boolean
    /** Ends everything at once; what was answered is kept. */
    readonly signal?: AbortSignal
  }) {
    const { parts, ledger, signal } = options
    this.#ledger = ledger
    this.#memory = memoryIn(ledger, (digest, { durationMs }) => {
      this.#paths.made(digest, durationMs)
      failPoint('after:call')
    })
    // A resumed run must see what its tools saw, and no program is run twice.
    const tools = rememberTools(parts.tools, this.#memory.observations)
    this.#executor = new TaskExecutor({ ...parts, tools })
    this.#reuse = options.requestReuse
    this.#split = splitOf(parts.set, 'train')
    this.#tasks = new Map(this.#split.tasks.map((task) => [task.id, task]))
    const end = () => this.#stop.abort(signal?.reason)
    if (signal?.aborted === true) end()
    signal?.addEventListener('abort', end, { once: true })
  }

  readonly evaluate = (graph: AgentGraph, id: string): Promise<GraphScore> => {
    const evaluated = this.#evaluate(graph, this.#tasks.get(id)!).finally(() =>
      this.#underWay.delete(evaluated),
    )
    this.#underWay.add(evaluated)
    return evaluated
  }

  /** What was evaluated since the last time this was asked. */
  take(): EvaluationTally {
    const boundMs = this.#paths.boundMs(this.#executor.parts.limit.limit)
    const { cost, ...sums } = this.#sums
    this.#paths = new CallPaths()
    this.#sums = emptySums()
    return { ...sums, cost: cost ?? 'unpriced', boundMs }
  }

  /** Resolves once nothing is under way any more and all of it is in the ledger, which can be closed then. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  async #evaluate(graph: AgentGraph, task: Task): Promise<GraphScore> {
    const { signal } = this.#stop
    const reference = this.#split.references.get(task.id)
    const key = {
      graph: graphKey(graph),
      task: task.id,
      dataVersion: this.#version(task, reference),
      executor: this.#executor.fingerprint(task),
    }
    const scope = this.#reuse ? '' : `${evaluationDigest(key)}.`
    const { evaluations, replies: shared } = this.#memory
    const replies: Memory<Call> = { once: (digest, ...rest) => shared.once(scope + digest, ...rest) }
    const make = async (until: AbortSignal) => {
      const value = await evaluateGraph(this.#executor, graph, task, reference, {
        signal: until,
        replies,
        onEvent: this.#paths.listener(scope),
        onExecution: (execution) => this.#count(execution),
      })
      return { value, keep: true }
    }
    try {
      const { value, origin } = await evaluations.once(key, make, signal)
      if (origin === 'kept') this.#sums.known += 1
      if (origin === 'made') failPoint('after:evaluation')
      signal.throwIfAborted()
      const { score, usage, reused } = value.evaluation
      // What its calls are worth, whoever made them: what is penalised must not depend on what the ledger knew.
      const { calls, input, output } = addUsage(usage, reused)
      return { score, usage: { calls, tokens: input + output } }
    } catch (error) {
      // Nothing of this update will be used: what else is under way ends too.
      this.#stop.abort(error)
      throw signal.reason
    }
  }

  #version(task: Task, reference: unknown): string {
    const version = this.#versions.get(task.id) ?? taskVersion(this.#executor.parts.set, task, reference)
    this.#versions.set(task.id, version)
    return version
  }

  async #count({ usage, reused, cost, trace }: Execution): Promise<void> {
    const sums = this.#sums
    sums.made += 1
    sums.usage = addUsage(sums.usage, usage)
    sums.reused = addUsage(sums.reused, reused)
    sums.cost = sums.cost === undefined ? cost : addCosts(sums.cost, cost)
    // No result, yet it has cost something.
    if (!isSettled(trace)) await this.#ledger.keepTrace(trace)
  }
}

function emptySums() {
  return {
    made: 0,
    known: 0,
    usage: noUsage as Usage,
    reused: noUsage as Usage,
    cost: undefined as Cost | undefined,
  }
}
