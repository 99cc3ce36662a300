import type { JsonObject, JsonValue } from '../src/library/json-value.ts'
import type {
  ChatAnswer,
  ChatFailure,
  ChatModel,
  ChatReply,
  ChatRequest,
  ModelIdentity,
} from '../src/models/chat-model.ts'

/** A request as a model may read it. */
export interface Heard {
  readonly raw: ChatRequest
  readonly executor: { readonly id: string; readonly role: string; readonly part: string }
  readonly message: JsonObject & {
    readonly predecessors?: readonly HeardMessage[]
    readonly tools?: readonly { readonly name: string }[]
  }
}

export interface HeardMessage extends JsonObject {
  readonly id: string
  readonly role: string
  readonly granularity: string
  readonly status: string
  readonly analysis: string | null
  readonly answer: JsonValue
}

/** A string is a complete answer that used 10 input tokens, 4 of them cached, and 5 output tokens. */
export type Scripted = string | Partial<ChatAnswer> | ChatFailure

/** A call that checks whether an endpoint that rejected a request is alive. */
export function isControl(request: ChatRequest): boolean {
  return request.isControl === true
}

/** A scripted in-process model that records its requests. It always passes control calls. */
export class ScriptedModel implements ChatModel {
  readonly identity: ModelIdentity = { provider: 'scripted', model: 'm', options: {} }
  readonly heard: Heard[] = []
  inFlight = 0
  mostInFlight = 0
  readonly #say: (heard: Heard, signal: AbortSignal | undefined) => Scripted | Promise<Scripted>

  constructor(say: (heard: Heard, signal: AbortSignal | undefined) => Scripted | Promise<Scripted>) {
    this.#say = say
  }

  async ask(raw: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    if (isControl(raw)) return reply('ready')
    const message = JSON.parse(raw.user) as Heard['message']
    const heard = { raw, executor: message['executor'] as unknown as Heard['executor'], message }
    this.heard.push(heard)
    this.inFlight += 1
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    try {
      return reply(await this.#say(heard, signal))
    } finally {
      this.inFlight -= 1
    }
  }

  /** The requests of executors with this id. */
  askedOf(executor: string): Heard[] {
    return this.heard.filter((heard) => heard.executor.id === executor)
  }
}

function reply(scripted: Scripted): ChatReply {
  if (typeof scripted === 'object' && scripted.ok === false) return scripted
  const answer = typeof scripted === 'string' ? { text: scripted } : scripted
  return {
    ok: true,
    text: '',
    finish: 'stop',
    usage: { input: 10, cachedInput: 4, output: 5 },
    warnings: [],
    durationMs: 1,
    ...answer,
  }
}

export function content(analysis: string, answer: JsonValue): string {
  return JSON.stringify({ kind: 'content', content: { analysis, answer } })
}

export function toolRequest(tool: string, payload: JsonObject): string {
  return JSON.stringify({ kind: 'tool_request', tool_request: { tool, payload } })
}

export function final(analysis: string, answer: JsonValue): string {
  return JSON.stringify({ analysis, answer })
}

/** The answer in the form expected from this part of a graph. */
export function fitting({ executor }: Heard, analysis: string, answer: JsonValue): string {
  return executor.part === 'finalizer' || executor.part === 'direct'
    ? final(analysis, answer)
    : content(analysis, answer)
}

export function failed(kind: ChatFailure['kind'], message = 'scripted'): ChatFailure {
  return { ok: false, kind, message, durationMs: 1 }
}
