import type { Memory } from '../execution/once.ts'
import { rememberTools } from '../execution/remembered-tools.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphScore } from '../learning/score-construction.ts'
import type { Task } from '../library/task.ts'
import { stopError } from '../models/model-refused.ts'
import { ModelUnreachableError } from '../models/model-unreachable.ts'
import { addCosts, type Cost } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { failPoint } from '../store/fail-point.ts'
import { type EvaluationKey, evaluationDigest, evaluationOf, isSettled } from '../store/ledger/evaluation.ts'
import { type LedgerMemory, memoryIn } from '../store/ledger/ledger-memory.ts'
import type { SqliteLedger } from '../store/ledger/sqlite.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, taskVersion } from '../tasks/task-set.ts'
import { CallPaths } from './call-path.ts'

/** An execution that transport failures spoiled is begun again so often; answers that it did get are not asked for again. */
const rounds = 5

/** What the evaluations of one update took. */
export interface EvaluationTally {
  readonly made: number
  /** Found in the ledger. */
  readonly known: number
  readonly usage: Usage
  /** What identical requests saved. */
  readonly reused: Usage
  readonly cost: Cost
  readonly criticalMs: number
  readonly workMs: number
}

/** Evaluates graphs on training tasks: from the ledger where they are known, else by running and scoring them. */
export class TrainingEvaluator {
  readonly #executor: TaskExecutor
  readonly #ledger: SqliteLedger
  readonly #reuse: boolean
  readonly #stop = new AbortController()
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #references: ReadonlyMap<string, unknown>
  readonly #versions = new Map<string, string>()
  readonly #memory: LedgerMemory
  readonly #underWay = new Set<Promise<unknown>>()
  #paths = new CallPaths()
  #sums = emptySums()

  constructor(options: {
    readonly parts: ExecutorParts
    readonly ledger: SqliteLedger
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
    const { tasks, references } = splitOf(parts.set, 'train')
    this.#tasks = new Map(tasks.map((task) => [task.id, task]))
    this.#references = references
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
    const { criticalMs, workMs } = this.#paths
    const { cost, ...sums } = this.#sums
    this.#paths = new CallPaths()
    this.#sums = emptySums()
    return { ...sums, cost: cost ?? 'unpriced', criticalMs, workMs }
  }

  /** Resolves once nothing is under way any more and all of it is in the ledger, which can be closed then. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  async #evaluate(graph: AgentGraph, task: Task): Promise<GraphScore> {
    const key: EvaluationKey = {
      graph: graphKey(graph),
      task: task.id,
      dataVersion: this.#version(task),
      executor: this.#executor.fingerprint(task),
    }
    try {
      return await this.#untilSettled(graph, task, key)
    } catch (error) {
      // Nothing of this update will be used: what else is under way ends too.
      this.#stop.abort(error)
      throw this.#stop.signal.reason
    }
  }

  async #untilSettled(graph: AgentGraph, task: Task, key: EvaluationKey): Promise<GraphScore> {
    const { signal } = this.#stop
    const run = (until: AbortSignal) => this.#run(graph, task, key, until)
    for (let round = 1; ; round += 1) {
      const { value, origin, isKept } = await this.#memory.evaluations.once(key, run, signal)
      if (origin === 'kept') this.#sums.known += 1
      if (origin === 'made') failPoint('after:evaluation')
      signal.throwIfAborted()
      const { score, usage, reused, status, failures } = value.evaluation
      if (isKept) {
        // What its calls are worth, whoever made them: what is penalised must not depend on what the ledger knew.
        const calls = usage.calls + reused.calls
        return { score, usage: { calls, tokens: usage.input + usage.output + reused.input + reused.output } }
      }
      if (status === 'timed_out' || round === rounds)
        throw ModelUnreachableError.afterRetries(task.id, failures.find(({ reason }) => reason)?.reason)
    }
  }

  async #run(graph: AgentGraph, task: Task, key: EvaluationKey, signal: AbortSignal) {
    const scope = this.#reuse ? '' : `${evaluationDigest(key)}.`
    const { replies: shared } = this.#memory
    const replies: Memory<Call> = { once: (digest, ...rest) => shared.once(scope + digest, ...rest) }
    const onEvent = this.#paths.listener(scope)
    const execution = await this.#executor.run(graph, task, { signal, replies, onEvent })
    this.#count(execution)
    const { status, stop, trace } = execution
    const keep = isSettled(trace)
    // No result, yet it has cost something.
    if (!keep) await this.#ledger.keepTrace(trace)
    if (status === 'stopped' && stop !== undefined) throw stopError(stop)
    const score = await this.#executor.score(execution, this.#references.get(task.id), signal)
    return { value: { evaluation: evaluationOf(execution, score), trace }, keep }
  }

  #count({ usage, reused, cost }: { usage: Usage; reused: Usage; cost: Cost }): void {
    const sums = this.#sums
    sums.made += 1
    sums.usage = addUsage(sums.usage, usage)
    sums.reused = addUsage(sums.reused, reused)
    sums.cost = sums.cost === undefined ? cost : addCosts(sums.cost, cost)
  }

  #version(task: Task): string {
    const known = this.#versions.get(task.id)
    if (known !== undefined) return known
    const made = taskVersion(this.#executor.parts.set, task, this.#references.get(task.id))
    this.#versions.set(task.id, made)
    return made
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
