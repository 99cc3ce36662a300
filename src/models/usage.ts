import type { ChatReply } from './chat-model.ts'
import { mayHaveBeenCharged } from './failure.ts'

/** Tokens used by one attempt, as reported by its server. */
export interface TokenUsage {
  /** All input tokens, cached ones included. */
  readonly input: number
  /** Zero if the server does not report it. */
  readonly cachedInput: number
  readonly output: number
}

/** The sum over calls and their attempts, including failed, retried and repaired ones. */
export interface Usage extends TokenUsage {
  readonly calls: number
  readonly attempts: number
  readonly failedAttempts: number
  /** Attempts that may have been charged without reporting usage. If there are any, tokens and cost are lower bounds. */
  readonly unknown: number
}

export const noUsage: Usage = {
  input: 0,
  cachedInput: 0,
  output: 0,
  calls: 0,
  attempts: 0,
  failedAttempts: 0,
  unknown: 0,
}

/** All tokens, in and out. */
export function tokensIn({ input, output }: Pick<TokenUsage, 'input' | 'output'>): number {
  return input + output
}

export function addUsage(...parts: readonly Usage[]): Usage {
  const sum = { ...noUsage }
  // Written field by field for speed: it runs for every call.
  for (const part of parts) {
    sum.input += part.input
    sum.cachedInput += part.cachedInput
    sum.output += part.output
    sum.calls += part.calls
    sum.attempts += part.attempts
    sum.failedAttempts += part.failedAttempts
    sum.unknown += part.unknown
  }
  return sum
}

/** Usage of one call with these attempts. A call cancelled before its first attempt used nothing. */
export function usageOfCall(attempts: readonly { readonly reply: ChatReply }[]): Usage {
  const sum = { ...noUsage, calls: attempts.length === 0 ? 0 : 1, attempts: attempts.length }
  for (const { reply } of attempts) {
    const { usage } = reply
    if (!reply.ok) sum.failedAttempts += 1
    if (usage === undefined && (reply.ok || mayHaveBeenCharged(reply))) sum.unknown += 1
    if (usage === undefined) continue
    sum.input += usage.input
    sum.cachedInput += usage.cachedInput
    sum.output += usage.output
  }
  return sum
}

/** More tokens than any model takes in one call. */
const absurd = 10_000_000

export interface UsageReading {
  readonly usage?: TokenUsage
  readonly warning?: 'usage_missing' | 'usage_invalid'
}

/** Accepts only counts that are integers, non-negative and not absurd. */
export function checkUsage(input: unknown, cachedInput: unknown, output: unknown): UsageReading {
  if (input === undefined && output === undefined) return { warning: 'usage_missing' }
  const cached = cachedInput ?? 0
  if (!isCount(input) || !isCount(cached) || !isCount(output) || cached > input)
    return { warning: 'usage_invalid' }
  return { usage: { input, cachedInput: cached, output } }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= absurd
}
