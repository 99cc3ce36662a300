import { writeSync } from 'node:fs'
import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  requestDigest,
} from '../../src/models/chat-model.ts'
import { evaluationDigest } from '../../src/store/ledger/evaluation.ts'
import type { LedgerFileOptions } from '../../src/store/ledger/ledger-file.ts'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'

/** What a training process reported before it ended, however it ended. */
export interface Facts {
  /** Digests of requests, once per attempt. */
  readonly asked: readonly string[]
  /** Digests of unanswered requests; making them again repeats nothing. */
  readonly failed: ReadonlySet<string>
  /** Digests of requests whose answers the ledger acknowledged. */
  readonly kept: ReadonlySet<string>
  /** Digests of evaluations the ledger acknowledged. */
  readonly evaluated: ReadonlySet<string>
  /** Updates whose checkpoints are certainly written: once the next update is in progress. */
  readonly updates: number
  /** The number of calls that the run reported as in flight at an earlier kill. */
  readonly inFlight: number
}

export type Tell = (line: string) => void

/** Writes a fact directly to the descriptor, so it arrives even if the process dies right after. */
export const printFact: Tell = (line) => void writeSync(1, `${line}\n`)

export function parseFacts(text: string): Facts {
  // A last line torn by a kill is not a fact.
  const facts = text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '))
  const all = (what: string) => facts.flatMap(([name, value]) => (name === what ? [value!] : []))
  return {
    asked: all('asked'),
    failed: new Set(all('failed')),
    kept: new Set(all('kept')),
    evaluated: new Set(all('evaluated')),
    inFlight: Number(all('in-flight')[0] ?? 0),
    updates: Math.max(0, ...all('update').map((update) => Number(update) - 1)),
  }
}

/** The same model, reporting its requests. */
export function tellingModel(model: ChatModel, tell: Tell): ChatModel {
  return {
    identity: model.identity,
    async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
      const digest = requestDigest(model.identity, request)
      tell(`asked ${digest}`)
      const reply = await model.ask(request, signal)
      if (!reply.ok && reply.kind !== 'cancelled') tell(`failed ${digest}`)
      return reply
    },
  }
}

/** From here on ledgers report what they acknowledge and have these limits: the trainer opens its own. */
export function watchLedgers(tell: Tell, limits: LedgerFileOptions): Disposable {
  const { open } = SqliteLedger
  const { keep, keepReply } = SqliteLedger.prototype
  SqliteLedger.open = (path, options = {}) => open.call(SqliteLedger, path, { ...limits, ...options })
  SqliteLedger.prototype.keepReply = async function (this: SqliteLedger, ...given) {
    await keepReply.apply(this, given)
    tell(`kept ${given[0]}`)
  }
  SqliteLedger.prototype.keep = async function (this: SqliteLedger, ...given) {
    const kept = await keep.apply(this, given)
    tell(`evaluated ${evaluationDigest(given[0])}`)
    return kept
  }
  return {
    [Symbol.dispose]() {
      SqliteLedger.open = open
      Object.assign(SqliteLedger.prototype, { keep, keepReply })
    },
  }
}
