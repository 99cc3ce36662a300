import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../../src/models/chat-model.ts'
import { SimulatedModel, type SimulatorSettings } from '../../src/simulator/model/simulator.ts'

/** Waits for this many milliseconds, or just adds them up. */
export type Wait = (ms: number) => unknown

/**
 * The simulated model with its simulated latency. A reply's duration is that latency, not measured time, which would include
 * the time the reply waits for us.
 */
export class LatencyModel implements ChatModel {
  readonly identity: ModelIdentity = { provider: 'simulated', model: 'bench', options: {} }
  readonly #simulator: SimulatedModel
  readonly #wait: Wait
  #calls = 0

  constructor(settings: SimulatorSettings, wait: Wait = (ms) => sleep(ms)) {
    this.#simulator = new SimulatedModel(settings)
    this.#wait = wait
  }

  /** Number of calls made. */
  get calls(): number {
    return this.#calls
  }

  async ask(request: ChatRequest): Promise<ChatReply> {
    this.#calls += 1
    const { text, finish, usage, latencyMs: durationMs } = this.#simulator.complete(request)
    await this.#wait(durationMs)
    return { ok: true, text, finish, usage, warnings: [], durationMs }
  }
}
