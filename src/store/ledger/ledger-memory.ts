import { Once } from '../../execution/once.ts'
import type { ToolObservation } from '../../execution/tools/tool.ts'
import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import { type Call, withoutAttempts } from '../../models/retry.ts'
import { type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import type { Ledger } from './ledger.ts'

/** An evaluation; with its trace while it is new. */
export interface TracedEvaluation {
  readonly evaluation: Evaluation
  readonly trace?: Trace
}

/** Who makes a call that several processes need. */
export interface ReplyClaims {
  /** Undefined if it is ours to make; else what another one has made, once it is there. */
  find<Value>(
    digest: string,
    find: () => Promise<Value | undefined>,
    signal: AbortSignal,
  ): Promise<Value | undefined>
  /** It is in the ledger: whoever waits can have it. */
  kept(digest: string): void
  /** It could not be made: somebody else may try. */
  forgo(digest: string): Promise<void>
}

export type LedgerMemory = ReturnType<typeof memoryIn>

/**
 * What a run pays for once. For training only: an evaluation of a policy asks afresh. One per ledger: identical work in
 * flight is shared within it. `onReply` is called with each new answer once it is stored.
 */
export function memoryIn(
  ledger: Ledger,
  onReply?: (digest: string, answer: ChatAnswer) => void,
  claims?: ReplyClaims,
) {
  const evaluations = new Once<TracedEvaluation, EvaluationKey>(
    {
      async find(key) {
        const evaluation = await ledger.find(key)
        return evaluation && { evaluation }
      },
      keep: async (key, { evaluation, trace }) => ({
        evaluation: await ledger.keep(key, evaluation, trace!),
      }),
    },
    evaluationDigest,
  )
  const replies = new Once<Call>({
    async find(digest, signal) {
      const find = () => ledger.findReply(digest)
      const answer = (await find()) ?? (await claims?.find(digest, find, signal))
      return answer && withoutAttempts(answer)
    },
    async keep(digest, call) {
      const answer = call.reply as ChatAnswer
      await ledger.keepReply(digest, answer)
      onReply?.(digest, answer)
      if (claims === undefined) return call
      claims.kept(digest)
      // Somebody who was taken for dead may have been first: what is handed on is what will be found.
      return { ...call, reply: (await ledger.findReply(digest)) ?? answer }
    },
    forgo: async (digest) => claims?.forgo(digest),
  })
  const observations = new Once<ToolObservation>({
    find: (digest) => ledger.findObservation(digest) as Promise<ToolObservation | undefined>,
    async keep(digest, observation) {
      const json = JSON.parse(JSON.stringify(observation)) as JsonValue
      await ledger.keepObservation(digest, json)
      // Another process may have been first: what is handed on is what will be found.
      return ((await ledger.findObservation(digest)) ?? json) as unknown as ToolObservation
    },
  })
  return { evaluations, replies, observations }
}
