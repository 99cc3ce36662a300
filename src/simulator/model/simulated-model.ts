import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../../models/chat-model.ts'
import { type Clock, systemClock } from '../../models/clock.ts'
import { Simulator, type SimulatorSettings, simulatedModelName } from './simulator.ts'

/** The simulated model without HTTP around it. Says the same as the server does, and has no faults. */
export class SimulatedModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #simulator: Simulator
  readonly #clock: Clock

  constructor(settings: SimulatorSettings = {}, clock: Clock = systemClock) {
    this.#simulator = new Simulator(settings)
    this.#clock = clock
    this.identity = this.#simulator.identity
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const start = this.#clock.now()
    const { text, finish, usage, latencyMs } = this.#simulator.complete(request)
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, signal)
    if (signal?.aborted === true)
      return { ok: false, kind: 'cancelled', message: 'The call was cancelled.', durationMs: 0 }
    const durationMs = this.#clock.now() - start
    return { ok: true, text, finish, usage, warnings: [], servedModel: simulatedModelName, durationMs }
  }
}
