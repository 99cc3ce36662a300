import { Once } from '../../execution/once.ts'
import type { ToolObservation } from '../../execution/tools/tool.ts'
import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import { type Call, withoutAttempts } from '../../models/retry.ts'
import { type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import type { Ledger } from './ledger.ts'

/** An evaluation, with its trace if it is new. */
export interface TracedEvaluation {
  readonly evaluation: Evaluation
  readonly trace?: Trace
}

/** Decides which of several processes makes a call that all of them need. */
export interface ReplyClaims {
  /** Undefined if the call is ours to make; otherwise another process's answer, once it is there. */
  find<Value>(
    digest: string,
    find: () => Promise<Value | undefined>,
    signal: AbortSignal,
  ): Promise<Value | undefined>
  /** Keeps the call's slot busy until its answer is stored, so that a kill never loses more answers than there are slots. */
  hold(): () => void
  /** Tells waiting processes that the answer is in the ledger. */
  kept(digest: string): void
  /** The call failed; another process may try. */
  forgo(digest: string): Promise<void>
}

export type LedgerMemory = ReturnType<typeof memoryIn>

/**
 * Everything a run pays for only once. Only training uses it; evaluations of a policy make every call anew. Use one
 * per ledger, because it also shares identical work in flight. `onReply` is called with each new answer once it is
 * stored.
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
      const release = claims?.hold()
      try {
        await ledger.keepReply(digest, answer)
      } finally {
        release?.()
      }
      onReply?.(digest, answer)
      if (claims === undefined) return call
      claims.kept(digest)
      // A worker presumed dead may have stored its answer first. Everybody must use the one in the ledger.
      return { ...call, reply: (await ledger.findReply(digest)) ?? answer }
    },
    forgo: async (digest) => claims?.forgo(digest),
  })
  const observations = new Once<ToolObservation>({
    find: (digest) => ledger.findObservation(digest) as Promise<ToolObservation | undefined>,
    async keep(digest, observation) {
      const json = JSON.parse(JSON.stringify(observation)) as JsonValue
      await ledger.keepObservation(digest, json)
      // Another process may have been first. Everybody must use the one in the ledger.
      return ((await ledger.findObservation(digest)) ?? json) as unknown as ToolObservation
    },
  })
  return { evaluations, replies, observations }
}
