import type { JsonValue } from '../../library/json-value.ts'
import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../../models/chat-model.ts'
import { type Clock, systemClock } from '../../models/clock.ts'
import type { TokenUsage } from '../../models/usage.ts'
import { readJudgeRequest } from '../../tasks/own/judge-scorer.ts'
import { comparable } from '../../tasks/scoring/exact-match.ts'
import { cutTo, latencyOf, tokensOf, usageOf } from './call-cost.ts'
import type { KnownTask } from './known-task.ts'
import { KnownTasks } from './known-tasks.ts'
import { readControlRequest, readNodeRequest } from './node-request.ts'
import { respond } from './respond.ts'
import { respondToControl } from './respond-to-control.ts'
import { simulatedModelName } from './simulated-name.ts'

/** Raise this whenever a request may get another answer than before. */
export const simulatorVersion = 2

export interface SimulatorSettings {
  /** The tasks whose answers it knows. Other questions get a guess. */
  readonly tasks?: Iterable<KnownTask>
  readonly seed?: number
  /** Latency of an answer of typical length; 0 for none. */
  readonly latencyMs?: number
}

export interface SimulatedCompletion {
  readonly text: string
  readonly finish: 'stop' | 'length'
  readonly usage: TokenUsage
  readonly latencyMs: number
}

/**
 * The simulated model without HTTP: it replies like the server, but without faults. Its only state is its tasks: the
 * same request always gets the same completion.
 */
export class SimulatedModel implements ChatModel {
  readonly tasks: KnownTasks
  readonly seed: number
  readonly #latencyMs: number
  readonly #clock: Clock
  #identity: ModelIdentity | undefined

  constructor({ tasks = [], seed = 0, latencyMs = 0 }: SimulatorSettings = {}, clock: Clock = systemClock) {
    this.tasks = new KnownTasks(tasks)
    this.seed = seed
    this.#latencyMs = latencyMs
    this.#clock = clock
  }

  /** Covers everything its answers depend on, so that replies of different seeds are never mixed up. */
  get identity(): ModelIdentity {
    this.#identity ??= {
      provider: 'simulated',
      model: simulatedModelName,
      options: { version: simulatorVersion, seed: this.seed, tasks: this.tasks.fingerprint() },
    }
    return this.#identity
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const start = this.#clock.now()
    const { text, finish, usage, latencyMs } = this.complete(request)
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, signal)
    if (signal?.aborted === true)
      return { ok: false, kind: 'cancelled', message: 'The call was cancelled.', durationMs: 0 }
    const durationMs = this.#clock.now() - start
    return { ok: true, text, finish, usage, warnings: [], servedModel: simulatedModelName, durationMs }
  }

  /** `seed` overrides the model's own for this request. */
  complete({ system, user, decoding }: ChatRequest, seed: number = this.seed): SimulatedCompletion {
    const judged = readJudgeRequest(user)
    const request = judged === undefined ? readNodeRequest(user) : undefined
    const control = judged === undefined && request === undefined ? readControlRequest(user) : undefined
    const whole =
      judged !== undefined
        ? verdict(judged)
        : request !== undefined
          ? respond(request, this.tasks, seed)
          : control !== undefined
            ? respondToControl(control, this.tasks, seed)
            : smallTalk(decoding.json)
    const isCut = tokensOf(whole) > decoding.maxOutputTokens
    const text = isCut ? cutTo(whole, decoding.maxOutputTokens) : whole
    const usage = usageOf(system, user, text)
    const latencyMs = latencyOf(this.#latencyMs, usage.output, system, user)
    return { text, finish: isCut ? 'length' : 'stop', usage, latencyMs }
  }
}

/** The reply to anything that is not a request of our protocol: it says what this is. */
function smallTalk(json: boolean): string {
  const analysis = 'This is the simulated model. It answers requests of the analysis-answer-v2 protocol only.'
  return json ? JSON.stringify({ analysis, answer: null }) : analysis
}

/** A judge that only compares: an answer is right if it contains the expected one. */
function verdict({ expected, answer }: { readonly expected: JsonValue; readonly answer: JsonValue }): string {
  const text = (value: JsonValue) => comparable(typeof value === 'string' ? value : JSON.stringify(value))
  const isRight = text(answer).includes(text(expected))
  return JSON.stringify({ reason: 'The simulated judge only compares texts.', score: isRight ? 1 : 0 })
}
