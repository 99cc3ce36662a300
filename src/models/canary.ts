import { randomInt } from 'node:crypto'
import type { ChatFailure, ChatModel, ChatReply, ChatRequest, Decoding } from './chat-model.ts'
import { isRetryable } from './failure.ts'

/** If this many ordinary requests about other questions are rejected, the endpoint is to blame. */
const mostOrdinary = 20

type Ask = (request: ChatRequest) => Promise<ChatReply>

type Ordinary = () => Iterable<ChatRequest>

/**
 * Finds out whether the request or the endpoint is to blame for a rejection: a healthy endpoint still answers the
 * longest request it answered before, and ordinary requests about other questions. All calls to one model share one
 * canary.
 */
export class Canary {
  #known: ChatRequest | undefined
  #isErratic = false
  #running: Promise<unknown> = Promise.resolve()
  readonly #next = new Map<string, Promise<Control>>()

  /** Remembers the longest answered request, which control calls repeat. */
  noteAnswer(request: ChatRequest): void {
    if (lengthOf(request) > lengthOf(this.#known)) this.#known = request
  }

  /**
   * The failure, or what it really means. `ask` makes the control calls under the caller's slot. `ordinary` yields
   * requests like the rejected one, about other questions.
   */
  async judge(
    request: ChatRequest,
    reply: ChatFailure,
    ask: Ask,
    ordinary: Ordinary | undefined,
    signal?: AbortSignal,
  ): Promise<ChatFailure> {
    if (reply.kind !== 'rejected') return reply
    if (this.#isErratic) return erratic(reply)
    let control: Control
    do {
      control = await this.#shared(request.system, () => this.#control(ask, ordinary, request.decoding))
      // The caller that made the control call may have been cancelled, which proves nothing.
    } while (!control.reply.ok && control.reply.kind === 'cancelled' && signal?.aborted !== true)
    const { reply: said, of } = control
    if (said.ok) return reply
    if (isRetryable(said.kind)) return erratic(reply)
    if (said.kind !== 'rejected') return said
    return {
      ...reply,
      kind: 'rejects_all',
      message: `The endpoint now also rejects ${of} (${said.message}). First rejected: ${reply.message}`,
    }
  }

  /** Called if the same request was both rejected and answered: rejections then say nothing about requests. */
  doubt(): void {
    this.#isErratic = true
  }

  /** Succeeds only if both kinds of control calls are answered. */
  async #control(ask: Ask, ordinary: Ordinary | undefined, decoding: Decoding): Promise<Control> {
    const of = this.#known === undefined ? 'an ordinary request' : 'a request that it answered before'
    let reply = await ask(withoutSomeWords(this.#known ?? ordinaryRequest(decoding)))
    if (!reply.ok) return { reply, of }
    let asked = 0
    for (const request of ordinary?.() ?? []) {
      reply = await ask({ ...request, isControl: true })
      asked += 1
      if (reply.ok || reply.kind !== 'rejected' || asked === mostOrdinary) break
    }
    return { reply, of: `ordinary requests, about ${asked} other questions` }
  }

  /** One control serves all rejections of a role that came before it started; an older result could be outdated. */
  #shared(role: string, make: () => Promise<Control>): Promise<Control> {
    const waiting = this.#next.get(role)
    if (waiting !== undefined) return waiting
    const next = this.#running.then(() => {
      this.#next.delete(role)
      return make()
    })
    this.#running = next.catch(() => {})
    this.#next.set(role, next)
    return next
  }
}

/** The outcome of the control calls, and what was asked last. */
interface Control {
  readonly reply: ChatReply
  readonly of: string
}

const canaries = new WeakMap<ChatModel, Canary>()

export function canaryOf(model: ChatModel): Canary {
  const known = canaries.get(model)
  if (known !== undefined) return known
  const canary = new Canary()
  canaries.set(model, canary)
  return canary
}

/** A rejection that says nothing about the request: it is retried like a transport failure. */
export function erratic(rejection: ChatFailure): ChatFailure {
  return { ...rejection, kind: 'erratic' }
}

/** A harmless request of ordinary length (about a thousand tokens), for an endpoint that has not answered anything yet. */
export function ordinaryRequest(decoding: Decoding): ChatRequest {
  const task = 'Reply with {"analysis": "ready", "answer": null} and nothing else.'
  const filler = 'This sentence only makes the request as long as an ordinary one. '.repeat(60)
  return {
    system: 'You check that a connection works. Reply in JSON.',
    user: JSON.stringify({ task, filler }),
    decoding,
  }
}

/** Nearly the same request for a model, but new to any cache, which might answer for an endpoint that is gone. */
function withoutSomeWords(request: ChatRequest): ChatRequest {
  let { user } = request
  for (let left = 5; left > 0; left -= 1) {
    const words = [...user.matchAll(/ [A-Za-z]+(?= )/g)]
    if (words.length === 0) break
    const { 0: word, index } = words[randomInt(words.length)]!
    user = user.slice(0, index) + user.slice(index + word.length)
  }
  // No words were found to leave out.
  if (user === request.user) user += ' '.repeat(1 + randomInt(1000))
  return { ...request, user, isControl: true }
}

function lengthOf(request: ChatRequest | undefined): number {
  return request === undefined ? 0 : request.system.length + request.user.length
}
