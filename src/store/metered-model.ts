import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../models/chat-model.ts'
import type { Budget } from './budget.ts'

/** A model whose every attempt is reserved in a budget before it is made, and settled after it. */
export class MeteredModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #budget: Budget

  constructor(model: ChatModel, budget: Budget) {
    this.identity = model.identity
    this.#model = model
    this.#budget = budget
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const settle = this.#budget.reserve(request)
    let reply: ChatReply
    try {
      reply = await this.#model.ask(request, signal)
    } catch (error) {
      settle({ ok: false, kind: 'cancelled', message: 'The client failed.', durationMs: 0 })
      throw error
    }
    settle(reply)
    return reply
  }
}
