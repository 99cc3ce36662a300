import type {
  ChatFailure,
  ChatModel,
  ChatReply,
  ChatRequest,
  ModelIdentity,
} from '../../execution/models/chat-model.ts'
import { type Clock, systemClock } from '../../execution/models/clock.ts'
import { Simulator, type SimulatorSettings, simulatedModelName, simulatorVersion } from './simulator.ts'

/** The simulated model without HTTP around it. Says the same as the server does, and has no faults. */
export class SimulatedModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #simulator: Simulator
  readonly #clock: Clock

  constructor(settings: SimulatorSettings = {}, clock: Clock = systemClock) {
    this.#simulator = new Simulator(settings)
    this.#clock = clock
    const { seed, tasks } = this.#simulator
    this.identity = {
      provider: 'simulated',
      model: simulatedModelName,
      options: { version: simulatorVersion, seed, tasks: tasks.fingerprint() },
    }
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const start = this.#clock.now()
    const isCancelled = () => signal?.aborted === true
    if (isCancelled()) return cancelled
    const { text, finish, usage, latencyMs } = this.#simulator.complete(request)
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, signal)
    if (isCancelled()) return cancelled
    const durationMs = this.#clock.now() - start
    return { ok: true, text, finish, usage, warnings: [], servedModel: simulatedModelName, durationMs }
  }
}

const cancelled: ChatFailure = {
  ok: false,
  kind: 'cancelled',
  message: 'The call was cancelled.',
  durationMs: 0,
}
