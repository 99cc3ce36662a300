import type { ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../execution/models/chat-model.ts'
import type { Budget } from './budget.ts'
import type { CallJournal } from './call-journal.ts'

/** A model whose every attempt is reserved in a budget and noted in a journal before it is made, and settled after it. */
export class MeteredModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #budget: Budget
  readonly #journal: CallJournal | undefined

  constructor(model: ChatModel, budget: Budget, journal?: CallJournal) {
    this.identity = model.identity
    this.#model = model
    this.#budget = budget
    this.#journal = journal
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    this.#journal?.begin()
    const settle = this.#budget.reserve(request)
    try {
      const reply = await this.#model.ask(request, signal)
      settle(reply)
      // One that we gave up may be answered and charged all the same: it counts as in flight.
      if (!reply.ok && reply.kind !== 'cancelled') this.#journal?.fail()
      return reply
    } catch (error) {
      settle({ ok: false, kind: 'cancelled', message: 'The client failed.', durationMs: 0 })
      throw error
    }
  }
}
