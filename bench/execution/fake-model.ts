import { protocolVersion } from '../../src/execution/protocol/response.ts'
import type { ChatAnswer, ChatModel, ChatRequest, ModelIdentity } from '../../src/models/chat-model.ts'

const analysis =
  'The vessel is rigid and closed, so volume and amount of gas stay as they are, and the pressure is proportional to the ' +
  'absolute temperature. That falls from 600 K to 300 K, by half, and so does the pressure. The second mole comes in ' +
  'only after the step that is asked about and changes nothing. Of the statements, one gives this conclusion with ' +
  'this reason; the one that speaks of speeds mistakes the root for the ratio. Checked against the gas law with ' +
  'numbers for one litre: 4.99 MPa before, 2.49 MPa after. I see no other reading.'

const content = { analysis, answer: 'A' }
const nodeReply = JSON.stringify({ kind: 'content', content })
const finalReply = JSON.stringify(content)
const finalStart = `{"protocol":"${protocolVersion}","executor":{"id":"finalizer"`

/** Always gives the same reply, at once or after a fixed time. It reads the request, as a real client must. */
export class FakeModel implements ChatModel {
  readonly identity: ModelIdentity = { provider: 'bench', model: 'fake', options: {} }
  readonly #ms: number

  constructor(ms: number) {
    this.#ms = ms
  }

  ask(request: ChatRequest): Promise<ChatAnswer> {
    const answer = answerTo(request)
    if (this.#ms === 0) return Promise.resolve(answer)
    return new Promise((resolve) => setTimeout(resolve, this.#ms, answer))
  }
}

function answerTo(request: ChatRequest): ChatAnswer {
  return {
    ok: true,
    text: isFinal(request) ? finalReply : nodeReply,
    finish: 'stop',
    usage: { input: 900, cachedInput: 0, output: 140 },
    warnings: [],
    durationMs: 0,
  }
}

function isFinal({ user }: ChatRequest): boolean {
  return user.startsWith(finalStart)
}

/** Records requests, and holds finalizers until a number of graphs have all reached theirs. */
export class WatchedModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #see: (request: ChatRequest) => void
  readonly #gate = Promise.withResolvers<void>()
  readonly #graphs: number
  readonly #full: () => void
  #waiting = 0

  constructor(
    model: ChatModel,
    see: (request: ChatRequest) => void,
    graphs = 1,
    full: () => void = () => {},
  ) {
    this.identity = model.identity
    this.#model = model
    this.#see = see
    this.#graphs = graphs
    this.#full = full
  }

  async ask(request: ChatRequest) {
    this.#see(request)
    if (isFinal(request)) await this.#wait()
    return this.#model.ask(request)
  }

  #wait(): Promise<void> {
    this.#waiting += 1
    if (this.#waiting === this.#graphs) {
      this.#full()
      this.#gate.resolve()
    }
    return this.#gate.promise
  }
}
