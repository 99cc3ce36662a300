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

/** What a training process has told of itself before it ended, however it ended. */
export interface Facts {
  /** Digests of requests, once per attempt. */
  readonly asked: readonly string[]
  /** Digests of requests that were not answered; to make them again is to repeat nothing. */
  readonly failed: ReadonlySet<string>
  /** Digests of requests whose answers the ledger has acknowledged. */
  readonly kept: ReadonlySet<string>
  /** Digests of evaluations that the ledger has acknowledged. */
  readonly evaluated: ReadonlySet<string>
  /** Updates whose checkpoints are surely written: one's is while the next update is under way. */
  readonly updates: number
  /** How many calls the run said that an earlier kill had caught in flight. */
  readonly inFlight: number
}

export type Tell = (line: string) => void

/** Says a fact straight to the descriptor: it is heard even if the next instant is the last. */
export const sayAloud: Tell = (line) => void writeSync(1, `${line}\n`)

export function parseFacts(text: string): Facts {
  // What a kill has left of a last line is no fact.
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

/** The same model, telling what it is asked. */
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

/** From here on ledgers tell what they have acknowledged, and have these limits: the trainer opens its own. */
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
