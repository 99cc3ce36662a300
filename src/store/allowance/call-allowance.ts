import { randomUUID } from 'node:crypto'
import type { ChatReply, ChatRequest, ModelIdentity } from '../../models/chat-model.ts'
import { type Clock, systemClock } from '../../models/clock.ts'
import { costOf, moneyIn, type Price, priceFor, type RunPrice } from '../../models/prices.ts'
import { type Allowance, readRetryAfter } from '../../models/retry.ts'
import type { TokenUsage } from '../../models/usage.ts'
import { chargeOf, mostOf } from '../budget.ts'
import { Batches } from '../ledger/batches.ts'
import { type AllowanceStore, CapReachedError, type Claim, type Ended } from './allowance-store.ts'

/** Maximum claims per request to the store. */
const largestAsk = 64

/** Maximum time between requests to the store: overestimated reservations are returned meanwhile. */
const longestWaitMs = 250

interface Waiting {
  readonly claim: Claim
  readonly price: Price | undefined
  readonly resolve: (settle: ((reply: ChatReply) => void) | undefined) => void
  readonly reject: (error: unknown) => void
  isGone: boolean
}

/** Makes the calls of this process wait for their turn in a possibly shared store, in order of arrival. */
export class CallAllowance implements Allowance {
  readonly #store: AllowanceStore
  readonly #price: RunPrice | undefined
  readonly #leaseMs: number
  readonly #clock: Clock
  readonly #queue: Waiting[] = []
  readonly #settlements: Batches<Ended, void>
  #pumping: Promise<void> | undefined
  #lastSettled: Promise<void> = Promise.resolve()
  #failure: unknown

  /** `leaseMs` must be longer than any attempt takes. */
  constructor(
    store: AllowanceStore,
    { price, leaseMs, clock = systemClock }: { price?: RunPrice; leaseMs: number; clock?: Clock },
  ) {
    this.#store = store
    this.#price = price
    this.#leaseMs = leaseMs
    this.#clock = clock
    this.#settlements = new Batches<Ended, void>(async (ended) => {
      await store.settle(ended)
      return ended.map(() => undefined)
    })
  }

  async admit(
    request: ChatRequest,
    signal?: AbortSignal,
    model?: ModelIdentity,
  ): Promise<((reply: ChatReply) => void) | undefined> {
    // If spending could not be recorded, allow no further calls.
    if (this.#failure !== undefined) throw this.#failure
    if (signal?.aborted === true) return undefined
    const most = mostOf(request)
    const { input, output } = most
    const price = priceFor(this.#price, model)
    const claim = { id: randomUUID(), input, output, money: moneyOf(most, price) }
    const { promise, resolve, reject } = Promise.withResolvers<((reply: ChatReply) => void) | undefined>()
    const waiting: Waiting = { claim, price, resolve, reject, isGone: false }
    const leave = () => {
      waiting.isGone = true
      resolve(undefined)
    }
    signal?.addEventListener('abort', leave, { once: true })
    this.#queue.push(waiting)
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined
    })
    return await promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Resolves once every ended call is recorded. */
  async settled(): Promise<void> {
    await this.#pumping
    await this.#settlements.settled()
    if (this.#failure !== undefined) throw this.#failure
  }

  async #pump(): Promise<void> {
    // Batches the requests of one turn of the event loop.
    await new Promise(setImmediate)
    for (;;) {
      const asking = this.#asking()
      if (asking.length === 0) return
      try {
        // Record ended calls first; otherwise a cap could be exceeded by more than the calls in flight.
        await this.#lastSettled
        const claims = asking.map(({ claim }) => claim)
        const { admitted, waitMs, cap } = await this.#store.take(claims, this.#leaseMs)
        for (const waiting of asking.slice(0, admitted)) this.#let(waiting)
        if (cap !== undefined) this.#refuse(new CapReachedError(cap))
        else if (admitted < asking.length)
          await this.#clock.sleep(Math.min(Math.max(waitMs, 1), longestWaitMs))
      } catch (error) {
        this.#refuse(error)
      }
    }
  }

  /** The first in the queue, without those that were cancelled. */
  #asking(): Waiting[] {
    const here = this.#queue.filter(({ isGone }) => !isGone)
    this.#queue.splice(0, this.#queue.length, ...here)
    return here.slice(0, largestAsk)
  }

  #let(waiting: Waiting): void {
    this.#queue.splice(this.#queue.indexOf(waiting), 1)
    const { price, claim } = waiting
    const { id } = claim
    if (waiting.isGone) this.#settle({ id, isAnswered: false, isUnknown: false })
    else waiting.resolve((reply) => this.#settle(this.#ended(id, reply, price)))
  }

  #refuse(error: unknown): void {
    for (const waiting of this.#queue.splice(0)) waiting.reject(error)
  }

  #settle(ended: Ended): void {
    // Recorded in order, so once the last one is, all are.
    this.#lastSettled = this.#settlements.add(ended).catch((error) => {
      this.#failure ??= error
    })
  }

  #ended(id: string, reply: ChatReply, price: Price | undefined): Ended {
    const { used, isUnknown } = chargeOf(reply)
    const isRefused = !reply.ok && reply.kind === 'rate_limited'
    return {
      id,
      isAnswered: reply.ok,
      isUnknown,
      ...(used !== undefined && { used: { ...used, money: moneyOf(used, price) } }),
      ...(isRefused && { refused: { waitMs: readRetryAfter(reply.retryAfter, this.#clock.now()) } }),
    }
  }
}

function moneyOf(usage: TokenUsage, price: Price | undefined): number {
  return moneyIn(costOf(usage, price, new Date()))
}
