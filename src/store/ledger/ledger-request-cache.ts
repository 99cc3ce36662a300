import type { RequestCache } from '../../execution/request-cache.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import { noUsage, type TokenUsage } from '../../models/usage.ts'
import type { EvaluationLedger } from './evaluation-ledger.ts'

export interface CountedCalls extends TokenUsage {
  readonly calls: number
}

export interface RequestCacheOptions {
  /**
   * Goes before every digest. With that of an evaluation as scope, replies serve this evaluation only: a resumed run does not
   * pay for them again although different graphs share none.
   */
  readonly scope?: string
  /** Hears of every answer that is on the disk, under its key, before it is handed on. */
  readonly onKept?: (key: string, answer: ChatAnswer) => void
}

/**
 * Hands the ledger's replies to the executor, for training only: an evaluation of a policy never gets one of these.
 * It counts answered calls. What failed attempts used, and what calls in flight shared, stands in the executions.
 */
export class LedgerRequestCache implements RequestCache {
  readonly #ledger: Pick<EvaluationLedger, 'findReply' | 'keepReply'>
  readonly #scope: string
  readonly #onKept: RequestCacheOptions['onKept']
  #made: CountedCalls = nothing
  #reused: CountedCalls = nothing

  constructor(
    ledger: Pick<EvaluationLedger, 'findReply' | 'keepReply'>,
    { scope = '', onKept }: RequestCacheOptions = {},
  ) {
    this.#ledger = ledger
    this.#scope = scope
    this.#onKept = onKept
  }

  /** Calls that were made and answered. */
  get made(): CountedCalls {
    return this.#made
  }

  /** Calls that the ledger saved. */
  get reused(): CountedCalls {
    return this.#reused
  }

  async get(digest: string): Promise<ChatAnswer | undefined> {
    const known = await this.#ledger.findReply(this.#scope + digest)
    if (known !== undefined) this.#reused = plus(this.#reused, known)
    return known
  }

  async set(digest: string, answer: ChatAnswer): Promise<void> {
    this.#made = plus(this.#made, answer)
    const key = this.#scope + digest
    await this.#ledger.keepReply(key, answer)
    this.#onKept?.(key, answer)
  }
}

const nothing: CountedCalls = { calls: 0, input: 0, cachedInput: 0, output: 0 }

function plus(sum: CountedCalls, { usage = noUsage }: ChatAnswer): CountedCalls {
  return {
    calls: sum.calls + 1,
    input: sum.input + usage.input,
    cachedInput: sum.cachedInput + usage.cachedInput,
    output: sum.output + usage.output,
  }
}
