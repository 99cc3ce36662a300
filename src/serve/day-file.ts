import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { TokenUsage } from '../models/usage.ts'
import { Problem } from '../problem.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { Journal } from '../store/budget.ts'
import type { EndedAttempt } from '../store/call-journal.ts'
import { writeWhole } from '../store/durable-file.ts'

const fileSchema = z.strictObject({
  format: z.literal('magic-day-1'),
  /** In UTC: `2026-11-16`. */
  day: z.iso.date(),
  /** Upper bound on that day's usage. */
  tokens: z.number().nonnegative(),
  money: z.number().nonnegative(),
  currency: z.string().nullable(),
})

type Amount = { tokens: number; money: number }

/** Share of the cap that is written in advance, so that most calls need not wait for the disk. */
const ahead = 0.01

/**
 * What a run has spent today, in one small file. The file never understates it: it includes the most that the calls in
 * flight can use, plus one percent of the cap. After a kill all of that counts as spent, so the cap holds however often
 * the server is killed.
 */
export class DayFile implements Journal {
  readonly earlier: Journal['earlier']
  readonly #path: string
  readonly #day: string
  readonly #price: Price | undefined
  readonly #slack: Amount
  readonly #used: Amount
  readonly #underWay = new Map<number, Amount>()
  readonly #reserved: Amount = { tokens: 0, money: 0 }
  #written: Amount
  #next = 0

  constructor(path: string, day: string, caps: BudgetSettings, price: Price | undefined) {
    this.#path = path
    this.#day = day
    this.#price = price
    this.#slack = {
      tokens: Math.ceil((caps.tokens ?? 1e7) * ahead),
      money: price === undefined ? 0 : (caps.cost ?? 100) * ahead,
    }
    mkdirSync(dirname(path), { recursive: true })
    this.#used = readAmount(path, day, price)
    this.#written = { ...this.#used }
    const { tokens, money } = this.#used
    const cost: Cost = price === undefined ? 'unpriced' : { amount: money, currency: price.currency }
    const sum = { calls: 0, input: tokens, cachedInput: 0, output: 0, cost, unknown: 0, minutes: 0 }
    this.earlier = [{ sum, of: 'earlier version' }]
  }

  begin(most: TokenUsage): number {
    const cost = costOf(most, this.#price, new Date())
    const amount = { tokens: most.input + most.output, money: cost === 'unpriced' ? 0 : cost.amount }
    const id = this.#next
    this.#next += 1
    this.#underWay.set(id, amount)
    add(this.#reserved, amount, 1)
    const { tokens, money } = this.#total()
    if (tokens > this.#written.tokens || money > this.#written.money)
      this.#write({ tokens: tokens + this.#slack.tokens, money: money + this.#slack.money })
    return id
  }

  end(id: number, { used, atMost, cost }: EndedAttempt): void {
    const reserved = this.#underWay.get(id)
    if (reserved === undefined) return
    this.#underWay.delete(id)
    add(this.#reserved, reserved, -1)
    const usage = used ?? atMost
    if (usage === undefined) return
    const money = cost === 'unpriced' ? 0 : cost.amount
    add(this.#used, { tokens: usage.input + usage.output, money }, 1)
  }

  /** Writes the exact total, without the part written in advance. */
  close(): void {
    this.#write(this.#total())
  }

  #total(): Amount {
    const total = { ...this.#used }
    add(total, this.#reserved, 1)
    return total
  }

  #write(amount: Amount): void {
    const record: z.output<typeof fileSchema> = {
      ...{ format: 'magic-day-1', day: this.#day, ...amount, currency: this.#price?.currency ?? null },
    }
    writeWhole(this.#path, `${JSON.stringify(record)}\n`)
    this.#written = amount
  }
}

function add(sum: Amount, part: Amount, sign: 1 | -1): void {
  sum.tokens += sign * part.tokens
  // Rounding may leave sums of small amounts slightly below zero.
  sum.money = Math.max(0, sum.money + sign * part.money)
}

function readAmount(path: string, day: string, price: Price | undefined): Amount {
  if (!existsSync(path)) return { tokens: 0, money: 0 }
  let given: unknown
  try {
    given = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw damaged(path, (error as Error).message)
  }
  const { data, error } = fileSchema.safeParse(given)
  if (error !== undefined) throw damaged(path, z.prettifyError(error))
  if (data.day !== day) return { tokens: 0, money: 0 }
  if (data.currency !== null && price !== undefined && data.currency !== price.currency)
    throw new Problem(
      `${path} counts today's spending in ${data.currency}, but the model's price is in ${price.currency}. Choose another folder with --state-dir.`,
    )
  return { tokens: data.tokens, money: data.money }
}

function damaged(path: string, why: string): Problem {
  return new Problem(
    `${path} is damaged, so today's spending is unknown. Delete it to count from zero. ${why}`,
  )
}
