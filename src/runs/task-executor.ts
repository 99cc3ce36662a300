import type { ExecutionClock } from '../execution/deadline.ts'
import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import { executorFingerprint } from '../execution/executor-fingerprint.ts'
import type { CallLimit } from '../execution/models/call-limit.ts'
import type { ChatModel } from '../execution/models/chat-model.ts'
import type { ExecutionSettings } from '../execution/settings.ts'
import type { Toolbox } from '../execution/toolbox.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { invalidAnswer, type Score } from '../tasks/scoring/scorer.ts'
import { splitOf, type TaskSet, TaskSetError } from '../tasks/task-set.ts'

export interface ExecutorParts {
  readonly set: TaskSet
  readonly model: ChatModel
  readonly tools: Toolbox
  readonly settings: ExecutionSettings
  readonly limit: CallLimit
  /** Time as retries and deadlines see it, so that tests need not wait. */
  readonly clock?: ExecutionClock
}

/** Runs graphs on the tasks of a set and scores what comes out. Keeps nothing: ledgers and caches are their callers'. */
export class TaskExecutor {
  readonly parts: ExecutorParts
  /** Contracts are few, tasks are many. */
  readonly #fingerprints = new Map<AnswerContract, string>()

  constructor(parts: ExecutorParts) {
    this.parts = parts
  }

  /** Digest of all but graph and task that decides an answer. */
  fingerprint(task: Task): string {
    const { set, model, settings, tools } = this.parts
    const contract = set.contractOf(task)
    const known = this.#fingerprints.get(contract)
    if (known !== undefined) return known
    const { library, profile } = set
    const made = executorFingerprint({ model, settings, library, profile, contract, tools })
    this.#fingerprints.set(contract, made)
    return made
  }

  run(
    graph: AgentGraph,
    task: Task,
    options: Pick<ExecutionOptions, 'signal' | 'cache' | 'onEvent' | 'id'> = {},
  ): Promise<Execution> {
    const { set, model, tools, settings, limit, clock } = this.parts
    const { library, profile } = set
    const contract = set.contractOf(task)
    return executeGraph({
      graph,
      task,
      library,
      profile,
      contract,
      model,
      tools,
      settings,
      limit,
      ...(clock === undefined ? {} : { clock }),
      ...options,
    })
  }

  /** The score of an execution's answer; without one it is zero. A scorer of one's own may be wrong: that is said here. */
  async score(
    { answer }: Pick<Execution, 'answer'>,
    reference: unknown,
    signal?: AbortSignal,
  ): Promise<Score> {
    if (answer === undefined) return invalidAnswer
    const pool = this.parts.tools.sandbox?.pool
    const { name, scorer } = this.parts.set
    const scored = await scorer.score(answer, reference, {
      ...(pool === undefined ? {} : { pool }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (scored.score >= 0 && scored.score <= 1) return scored
    throw new TaskSetError(
      `The scorer of '${name}' gave ${scored.score} for the answer ${JSON.stringify(answer).slice(0, 200)}; a score is from 0 to 1.`,
    )
  }

  /** A split of its task set. */
  split(name: string) {
    return splitOf(this.parts.set, name)
  }
}
