import { existsSync } from 'node:fs'
import { costOf, type Price } from '../execution/models/prices.ts'
import type { TokenUsage } from '../execution/models/usage.ts'
import type { EvaluationLedger } from '../ledger/evaluation-ledger.ts'
import { nothingSpent, type Spent } from './budget.ts'
import { readLines } from './durable-file.ts'
import type { UpdateRecord } from './update-record.ts'

/**
 * What a run had used when it ended. Its last event tells what that was then; the ledger's answers tell what came after
 * it, also where the process was killed. What failed attempts used in between is lost with them.
 */
export async function spentBefore(
  eventsFile: string,
  ledger: Pick<EvaluationLedger, 'spending'>,
  price: Price | undefined,
): Promise<{
  readonly spent: Spent
  readonly untold: TokenUsage
  /** Calls whose answers are kept, or were used up by an update that is. */
  readonly answers: number
}> {
  const last = existsSync(eventsFile) ? (readLines(eventsFile).at(-1) as UpdateRecord | undefined) : undefined
  const then = last?.spent ?? nothingSpent(price)
  const untold = last?.untold ?? { input: 0, cachedInput: 0, output: 0 }
  const answered = await ledger.spending()
  // Never less than was told then: above temperature 0 the ledger keeps no answers, and a lost one has lost some.
  const now = {
    input: Math.max(then.input, answered.input + untold.input),
    cachedInput: Math.max(then.cachedInput, answered.cachedInput + untold.cachedInput),
    output: Math.max(then.output, answered.output + untold.output),
  }
  const since = {
    input: now.input - then.input,
    cachedInput: now.cachedInput - then.cachedInput,
    output: now.output - then.output,
  }
  const more = costOf(since, price, new Date())
  const isSameMoney = more !== 'unpriced' && then.cost !== 'unpriced' && more.currency === then.cost.currency
  // A price that came later, or in another currency, counts for all that was used.
  const cost = isSameMoney
    ? { ...more, amount: then.cost.amount + more.amount }
    : costOf(now, price, new Date())
  const unknown = Math.max(then.unknown, answered.unknown)
  const calls = Math.max(then.calls, answered.calls)
  return { spent: { calls, ...now, unknown, cost, minutes: then.minutes }, untold, answers: calls }
}
