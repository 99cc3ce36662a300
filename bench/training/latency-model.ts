import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../../src/models/chat-model.ts'
import { SimulatedModel, type SimulatorSettings } from '../../src/simulator/model/simulator.ts'

/** Waits so many milliseconds, or keeps account of them. */
export type Wait = (ms: number) => unknown

/**
 * The simulated model, whose calls take the time that it decides on. A reply's duration is that time and not what a clock
 * showed: a clock would count as the model's what we let a reply lie before we looked at it.
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

  /** All that were made. */
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
