import { AsyncLocalStorage } from 'node:async_hooks'
import { randomInt } from 'node:crypto'
import type { Execution, ExecutionOptions, OtherTask } from '../execution/execution.ts'
import { executorFingerprint } from '../execution/executor-fingerprint.ts'
import type { Memory } from '../execution/once.ts'
import type { Toolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import { invalidAnswer, type Score } from '../library/score.ts'
import type { Task } from '../library/task.ts'
import type { CallLimit } from '../models/call-limit.ts'
import { type ChatModel, requestDigest } from '../models/chat-model.ts'
import type { Clock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { type Allowance, type Call, callModel, type Meter } from '../models/retry.ts'
import { ModelUnreachableError, stopError } from '../models/stop-error.ts'
import { exitCode, Problem } from '../problem.ts'
import { BrokenTask } from '../sandbox/program/program-message.ts'
import { SandboxFailure } from '../sandbox/unavailable.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import { type TaskSet, TaskSetError } from './task-set.ts'

export interface ExecutorParts {
  readonly set: TaskSet
  readonly model: ChatModel
  readonly models?: Readonly<Record<string, ChatModel>>
  readonly tools: Toolbox
  readonly settings: ExecutionSettings
  readonly limit: CallLimit
  /** The clock used for retries and deadlines. */
  readonly clock?: Clock
  /** Records every attempt to call the model. */
  readonly meter?: Meter
  /** Decides when an attempt may be made. By default, immediately. */
  readonly allowance?: Allowance
  /** Stores a judge's verdicts, so that none is paid for twice. */
  readonly replies?: Memory<Call>
}

/** Everything needed to run graphs on a set's tasks and score their answers. `executeGraph` does the running. */
export class TaskExecutor {
  readonly parts: ExecutorParts
  /** By contract, since there are far fewer contracts than tasks. */
  readonly #fingerprints = new Map<AnswerContract, string>()
  /** Collects sandbox failures of an execution's tools. */
  readonly #sandboxes = new AsyncLocalStorage<{ failure?: SandboxFailure }>()
  /** The same object for all executions, because plans are cached by it. */
  readonly #tools: Toolbox

  constructor(parts: ExecutorParts) {
    this.parts = parts
    this.#tools = watchedTools(parts.tools, (problem) => {
      const met = this.#sandboxes.getStore()
      if (met !== undefined) met.failure ??= problem
    })
  }

  /** Digest of everything besides graph and task that affects an answer. */
  fingerprint(task: Task): string {
    const { set, model, models, settings, tools } = this.parts
    const contract = set.contractOf(task)
    const known = this.#fingerprints.get(contract)
    if (known !== undefined) return known
    const { library, profile } = set
    const made = executorFingerprint({ model, models, settings, library, profile, contract, tools })
    this.#fingerprints.set(contract, made)
    return made
  }

  /** The options of `executeGraph`, without the graph. */
  optionsFor(task: Task): Omit<ExecutionOptions, 'graph'> {
    const { set, model, models, settings, limit, clock, meter, allowance } = this.parts
    const { library, profile } = set
    const contract = set.contractOf(task)
    const others = { [Symbol.iterator]: () => this.#others(task) }
    const means = { model, models, tools: this.#tools, settings, limit, clock, meter, allowance, others }
    return { task, library, profile, contract, ...means }
  }

  /** Throws a `Problem` if a tool's sandbox fails: an answer without the tool would be a different one. */
  async watched<T>({ id }: Task, execute: () => Promise<T>): Promise<T> {
    const met: { failure?: SandboxFailure } = {}
    const execution = await this.#sandboxes.run(met, execute).catch((problem: unknown) => {
      throw problem instanceof SandboxFailure ? sandboxFailed(id, problem) : problem
    })
    if (met.failure !== undefined) throw sandboxFailed(id, met.failure)
    return execution
  }

  /** The score of an execution's answer; zero without one. Throws if the scorer breaks its contract. */
  async score(
    { answer, trace, failures }: Pick<Execution, 'answer' | 'trace' | 'failures'>,
    reference: unknown,
    signal?: AbortSignal,
  ): Promise<Score> {
    if (answer === undefined) return invalidAnswer
    const pool = this.parts.tools.sandbox?.pool
    const { name, scorer } = this.parts.set
    const scored = await Promise.resolve(
      scorer.score(answer, reference, {
        pool,
        signal,
        failures: failures.length,
        ask: (request) => this.#ask(request, signal),
      }),
    ).catch((problem: unknown) => {
      if (problem instanceof SandboxFailure) throw sandboxFailed(trace.task, problem)
      if (problem instanceof BrokenTask)
        throw new TaskSetError(`Task '${trace.task}' of '${name}' cannot be scored. ${problem.message}`)
      throw problem
    })
    if (scored.score >= 0 && scored.score <= 1) return scored
    throw new TaskSetError(
      `The scorer of '${name}' gave ${scored.score} for the answer ${JSON.stringify(answer).slice(0, 200)}; a score is from 0 to 1.`,
    )
  }

  /** Asks the model for a judge's verdict. Throws if there is none: that is no score, not even zero. */
  async #ask(said: { system: string; user: string }, signal?: AbortSignal): Promise<string> {
    const { model, settings, limit, clock, meter, allowance, replies } = this.parts
    const request = { ...said, decoding: { ...settings.decoding, temperature: 0, json: true } }
    const attemptMs = settings.attemptSeconds * 1000
    const make = async (until?: AbortSignal) => {
      const call = await callModel(model, request, {
        limit,
        clock,
        meter,
        allowance,
        attemptMs,
        signal: until,
      })
      return { value: call, keep: call.reply.ok }
    }
    const digest = requestDigest(model.identity, request)
    const { value } = await (replies === undefined ? make(signal) : replies.once(digest, make, signal))
    const { reply } = value
    if (reply.ok) return reply.text
    signal?.throwIfAborted()
    if (stopsRun(reply.kind)) throw stopError(reply)
    throw new ModelUnreachableError(`The judge gave no verdict (${reply.kind}: ${reply.message})`)
  }

  /** The other questions of a task's split, in random order. */
  *#others(task: Task): Generator<OtherTask> {
    const { set } = this.parts
    const tasks = Object.values(set.splits).find((split) => split.tasks.includes(task))?.tasks ?? []
    const left = tasks.filter((other) => other !== task)
    while (left.length > 0) {
      const [other] = left.splice(randomInt(left.length), 1) as [Task]
      yield { task: other, contract: set.contractOf(other) }
    }
  }
}

/** The sandbox failed in all attempts. Nothing is lost, and no result is stored. */
function sandboxFailed(task: string, failure: SandboxFailure): Problem {
  return new Problem(
    `A program for task '${task}' could not be run: the sandbox failed, in fresh ones too. ${failure.reason.replace(/[.!?]?$/, '.')} That is no result, so none was stored. Look at the machine (\`magic doctor\`) and resume, or repeat the command: what was done is kept.`,
    { cause: failure, exitCode: exitCode.unavailable },
  )
}

/** The same tools, reporting sandbox failures to `onFailure`. The model only learns that its tool is unavailable. */
function watchedTools(toolbox: Toolbox, onFailure: (problem: SandboxFailure) => void): Toolbox {
  const watched = (tool: Tool): Tool => ({
    name: tool.name,
    description: tool.description,
    payload: tool.payload,
    async run(input, context, signal) {
      try {
        return await tool.run(input, context, signal)
      } catch (problem) {
        if (problem instanceof SandboxFailure) onFailure(problem)
        throw problem
      }
    },
  })
  return { ...toolbox, tools: new Map([...toolbox.tools].map(([name, tool]) => [name, watched(tool)])) }
}
