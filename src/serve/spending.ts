import { type ChatReply, type ChatRequest, cancelled } from '../models/chat-model.ts'
import type { Price } from '../models/prices.ts'
import type { Meter } from '../models/retry.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { Budget, mostOf, type Spent } from '../store/budget.ts'
import { noRetry } from './answer.ts'
import { DayFile } from './day-file.ts'
import { Refusal, type RefusalOptions } from './refusal.ts'

export interface SpendingCaps {
  readonly request: BudgetSettings
  readonly day: BudgetSettings
}

/** Caps on what one served policy may use. A call that could exceed a cap is not made. */
export class Spending {
  readonly #caps: SpendingCaps
  readonly #price: Price | undefined
  readonly #path: string | undefined
  readonly #now: () => Date
  #today: { readonly day: string; readonly budget: Budget; readonly file: DayFile | undefined }

  /** `path` is the file for the day's spending; required if there is a daily cap. */
  constructor(caps: SpendingCaps, price: Price | undefined, path?: string, now = () => new Date()) {
    this.#caps = caps
    this.#price = price
    this.#path = path
    this.#now = now
    this.#today = this.#open()
  }

  /** Counts the calls of one request; undefined without a cap. It throws `CapReached` instead of passing a cap. */
  requestMeter(): Meter | undefined {
    const caps = [...Object.values(this.#caps.request), ...Object.values(this.#caps.day)]
    if (caps.every((cap) => cap === undefined)) return undefined
    const request = new Budget(this.#caps.request, this.#price)
    return {
      reserve: (asked, model) => {
        const day = this.#budgetOfToday()
        const settleRequest = request.reserve(asked, model)
        const settleDay = day.reserve(asked, model)
        const settle = (reply: ChatReply) => {
          settleRequest(reply)
          settleDay(reply)
        }
        const isTooDear = request.exhausted()
        if (!isTooDear && !day.exhausted()) return settle
        settle({ ...cancelled, unsent: true })
        throw isTooDear ? requestCap(request, asked) : this.#dayCap(request)
      },
    }
  }

  /** Throws a `Refusal` if today's cap is reached. */
  assertLeft(): void {
    if (this.#budgetOfToday().reached() !== undefined) throw this.#dayCap(new Budget({}, this.#price))
  }

  close(): void {
    this.#today.file?.close()
  }

  #budgetOfToday(): Budget {
    if (this.#today.day !== this.#now().toISOString().slice(0, 10)) this.#today = this.#open()
    return this.#today.budget
  }

  #open() {
    const day = this.#now().toISOString().slice(0, 10)
    const { day: caps } = this.#caps
    const file = this.#path === undefined ? undefined : new DayFile(this.#path, day, caps, this.#price)
    return { day, file, budget: new Budget(caps, this.#price, file) }
  }

  #dayCap(request: Budget): CapReached {
    const now = this.#now()
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    const seconds = String(Math.ceil((midnight - now.getTime()) / 1000))
    return new CapReached(
      429,
      'The daily cap of this model is reached. It resets at midnight UTC.',
      request,
      {
        ...{ code: 'insufficient_quota', headers: { ...noRetry, 'retry-after': seconds } },
      },
    )
  }
}

/** A cap stopped the request, possibly after some calls. */
export class CapReached extends Refusal {
  readonly #request: Budget

  constructor(status: 400 | 429, message: string, request: Budget, options: RefusalOptions) {
    super(status, message, options)
    this.#request = request
  }

  /** Read this after the request has ended, since other calls are still in flight when the cap is reached. */
  get spent(): Spent {
    return this.#request.spentAtMost
  }

  override get body(): object {
    return { ...super.body, magic: { spent: this.spent } }
  }
}

function requestCap(request: Budget, asked: ChatRequest): CapReached {
  const { input, output } = mostOf(asked)
  const { cost, tokens } = request.caps
  const caps = [
    tokens !== undefined && `${tokens} tokens`,
    cost !== undefined && `${cost} ${request.price?.currency}`,
  ].filter((cap) => cap !== false)
  const message = `The answer would exceed the cap per request (${caps.join(', ')}): its next call may take up to ${input + output} tokens.`
  return new CapReached(400, message, request, {
    ...{ code: 'request_cap_reached', headers: noRetry },
  })
}
