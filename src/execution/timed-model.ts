import type { ChatFailure, ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../models/chat-model.ts'
import { type ExecutionClock, withDeadline } from './deadline.ts'

/**
 * A model each of whose attempts ends, even if its client waits for ever and heeds no signal. The time in the queue does
 * not count, since an attempt starts behind it.
 */
export class TimedModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #ms: number
  readonly #clock: ExecutionClock

  constructor(model: ChatModel, seconds: number, clock: ExecutionClock) {
    this.identity = model.identity
    this.#model = model
    this.#ms = seconds * 1000
    this.#clock = clock
  }

  async ask(request: ChatRequest, signal = new AbortController().signal): Promise<ChatReply> {
    const start = performance.now()
    const ask = (until: AbortSignal) => this.#model.ask(request, until)
    const reply = await withDeadline(this.#ms, signal, ask, this.#clock)
    if (typeof reply === 'object') return reply
    const durationMs = performance.now() - start
    return reply === 'timeout'
      ? failure('timeout', `No answer within ${this.#ms / 1000} s.`, durationMs)
      : failure('cancelled', 'The call was cancelled.', durationMs)
  }
}

function failure(kind: 'timeout' | 'cancelled', message: string, durationMs: number): ChatFailure {
  return { ok: false, kind, message, durationMs }
}
