import type { ChatFailure, ChatReply } from '../models/chat-model.ts'
import type { Call } from '../models/retry.ts'
import { noUsage } from '../models/usage.ts'
import type { Memory } from './once.ts'

export interface Asked {
  readonly call: Call
  /** The answer was there already, or somebody else's identical call brought it. */
  readonly reused: boolean
}

/** Asks unless the answer is known. Only answers are kept; a call that is reused has no attempts and cost nothing. */
export async function askOnce(
  replies: Memory<Call>,
  digest: string,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Call>,
): Promise<Asked> {
  const make = async (until: AbortSignal) => {
    const call = await ask(until)
    return { value: call, keep: call.reply.ok }
  }
  try {
    const { value, origin } = await replies.once(digest, make, signal)
    if (origin === 'made') return { call: value, reused: false }
    return { call: withoutAttempts(value.reply), reused: true }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { call: withoutAttempts(cancelled), reused: true }
    throw error
  }
}

export function withoutAttempts(reply: ChatReply): Call {
  return { reply, attempts: [], usage: noUsage }
}

const cancelled: ChatFailure = {
  ok: false,
  kind: 'cancelled',
  message: 'The call was cancelled.',
  durationMs: 0,
}
