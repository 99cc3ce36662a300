import { randomInt } from 'node:crypto'
import type { ChatFailure, ChatModel, ChatReply, ChatRequest, Decoding } from './chat-model.ts'
import { isRetryable } from './failure.ts'

/**
 * Finds out whether the request or the endpoint is to blame for a rejection: a healthy endpoint still answers the longest
 * request that it answered before. All calls to one model share one canary.
 */
export class Canary {
  #known: ChatRequest | undefined
  #isErratic = false
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<ChatReply> | undefined

  /** The reply, or what it really means. `ask` makes the control call, without a slot of its own: the caller holds one. */
  async judge(
    request: ChatRequest,
    reply: ChatReply,
    ask: (request: ChatRequest) => Promise<ChatReply>,
    signal?: AbortSignal,
  ): Promise<ChatReply> {
    if (reply.ok && lengthOf(request) > (this.#known === undefined ? 0 : lengthOf(this.#known)))
      this.#known = request
    if (reply.ok || reply.kind !== 'rejected') return reply
    if (this.#isErratic) return erratic(reply)
    let control: ChatReply
    do {
      control = await this.#control(() => ask(withBlanks(this.#known ?? ordinaryRequest(request.decoding))))
      // Whoever made the control call may have been cancelled; that tells us nothing.
    } while (!control.ok && control.kind === 'cancelled' && signal?.aborted !== true)
    if (control.ok) return reply
    if (isRetryable(control.kind)) return erratic(reply)
    if (control.kind !== 'rejected') return control
    const what = this.#known === undefined ? 'an ordinary request' : 'a request that it answered before'
    return {
      ...reply,
      kind: 'rejects_all',
      message: `The endpoint now also rejects ${what} (${control.message}). First rejected: ${reply.message}`,
    }
  }

  /** The same request was both rejected and answered: from now on a rejection says nothing about the request. */
  doubt(): void {
    this.#isErratic = true
  }

  /** One control call serves all rejections that came before it started; an older result could be out of date. */
  #control(ask: () => Promise<ChatReply>): Promise<ChatReply> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      const control = ask()
      this.#running = control.catch(() => {})
      return control
    })
    return this.#next
  }
}

const canaries = new WeakMap<ChatModel, Canary>()

export function canaryOf(model: ChatModel): Canary {
  const canary = canaries.get(model) ?? new Canary()
  canaries.set(model, canary)
  return canary
}

/** Says nothing about the request: retry it like a transport failure. */
export function erratic(rejection: ChatFailure): ChatFailure {
  return { ...rejection, kind: 'erratic' }
}

const filler = 'This sentence only makes the request as long as an ordinary one. '.repeat(60)

/** A harmless request of ordinary length (about a thousand tokens), for an endpoint that has answered nothing yet. */
export function ordinaryRequest(decoding: Decoding): ChatRequest {
  const task = 'Reply with {"analysis": "ready", "answer": null} and nothing else.'
  return {
    system: 'You check that a connection works. Reply in JSON.',
    user: JSON.stringify({ task, filler }),
    decoding,
  }
}

/** The same to a model, but not to a cache on the way, which would answer for an endpoint that is gone. */
function withBlanks(request: ChatRequest): ChatRequest {
  const blanks = Array.from({ length: 48 }, () => (randomInt(2) === 0 ? ' ' : '\n')).join('')
  return { ...request, user: request.user + blanks, isControl: true }
}

function lengthOf({ system, user }: ChatRequest): number {
  return system.length + user.length
}
