import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Child } from '../../../test/ledger/child.ts'
import { Postgres } from '../../../test/postgres/server.ts'
import { type ChatReply, paperDecoding } from '../../models/chat-model.ts'
import type { Price } from '../../models/prices.ts'
import { callModel } from '../../models/retry.ts'
import { Budget } from '../budget.ts'
import { PostgresAddress } from '../postgres/address.ts'
import { Database } from '../postgres/database.ts'
import { type AllowanceStore, CapReachedError } from './allowance-store.ts'
import { CallAllowance } from './call-allowance.ts'
import { MemoryAllowanceStore } from './memory-store.ts'
import { PostgresAllowanceStore } from './postgres-store.ts'

const callerScript = new URL('../../../test/postgres/caller.ts', import.meta.url)

let postgres: Postgres
let address: string
let database: Database
beforeAll(async () => {
  postgres = await Postgres.start()
  address = await postgres.database()
  database = await Database.open(new PostgresAddress(address))
})
afterAll(async () => {
  await database?.close()
  await postgres?.stop()
})

const price: Price = {
  ...{ currency: 'EUR', asOf: '2026-01', source: 'test' },
  ...{ input: 1000, cachedInput: 100, output: 2000 },
}
const request = {
  system: 'x'.repeat(30),
  user: '',
  decoding: { ...paperDecoding, maxOutputTokens: 50 },
}
const usage = { input: 8, cachedInput: 2, output: 5 }
const answer: ChatReply = { ok: true, text: '', finish: 'stop', usage, warnings: [], durationMs: 1 }
const money = (6 * 1000 + 2 * 100 + 5 * 2000) / 1e6

/** A model whose calls end on command. */
function slowModel() {
  const asked: ((reply: ChatReply) => void)[] = []
  return {
    asked,
    identity: { provider: 'p', model: 'm', options: {} },
    ask: () => new Promise<ChatReply>((resolve) => asked.push(resolve)),
  }
}

const turns = async (until: () => boolean) => {
  while (!until()) await new Promise((resolve) => setTimeout(resolve, 1))
}

const makers: Record<string, () => Promise<AllowanceStore>> = {
  'in one process': async () => new MemoryAllowanceStore(),
  'on PostgreSQL': () =>
    PostgresAllowanceStore.open(database, { account: randomUUID(), limiter: randomUUID() }),
}

describe.for(Object.entries(makers))('%s', ([, makeStore]) => {
  test("calls are counted, priced, and reported to the run's budget", async () => {
    const store = await makeStore()
    const allowance = new CallAllowance(store, { price, leaseMs: 60_000 })
    const model = slowModel()
    const calls = [1, 2, 3].map(() => callModel(model, request, { allowance }))
    await turns(() => model.asked.length === 3)
    expect((await store.sums()).reserved).toMatchObject({ calls: 3, tokens: 180 })
    model.asked[0]!(answer)
    model.asked[1]!({ ...answer, usage: undefined })
    model.asked[2]!({ ok: false, kind: 'rejected', message: '', durationMs: 1 })
    await Promise.all(calls)
    await allowance.settled()
    const sums = await store.sums()
    const atMost = (10 * 1000 + 50 * 2000) / 1e6
    expect(sums).toMatchObject({ calls: 2, ...usage, unknown: { attempts: 1, tokens: 60 } })
    expect(sums.money).toBeCloseTo(money, 12)
    expect(sums.unknown.money).toBeCloseTo(atMost, 12)
    const budget = new Budget({ calls: 3 }, price, undefined, () => sums)
    budget.reserve(request)(answer)
    expect(budget.spent).toMatchObject({ calls: 3, input: 16, output: 10, unknown: 1 })
    expect(budget.reached()).toBe('calls')
    expect(budget.overshoot('calls')).toBe(0)
  })

  test('at a cap, waiting calls are refused and running ones finish', async () => {
    const store = await makeStore()
    await store.setCaps({ calls: 1 })
    const allowance = new CallAllowance(store, { leaseMs: 60_000 })
    const model = slowModel()
    const early = [1, 2].map(() => callModel(model, request, { allowance }))
    await turns(() => model.asked.length === 2)
    for (const end of model.asked) end(answer)
    await Promise.all(early)
    await allowance.settled()
    const late = callModel(model, request, { allowance })
    await expect(late).rejects.toThrow(CapReachedError)
    await expect(late).rejects.toThrow(/The cap on calls is reached/)
    expect(model.asked).toHaveLength(2)
  })

  test('a cancelled waiter leaves and reserves nothing', async () => {
    const store = await makeStore()
    await store.setLimits({ requestsPerMinute: 1 })
    const allowance = new CallAllowance(store, { leaseMs: 60_000 })
    const model = slowModel()
    const stop = new AbortController()
    const calls = [1, 2, 3].map(() => callModel(model, request, { allowance, signal: stop.signal }))
    await turns(() => model.asked.length === 1)
    stop.abort()
    model.asked[0]!(answer)
    const replies = (await Promise.all(calls)).map(({ reply }) => reply.ok || reply.kind)
    expect(replies).toEqual([true, 'cancelled', 'cancelled'])
    await allowance.settled()
    expect(await store.sums()).toMatchObject({ calls: 1, unknown: { attempts: 0 }, reserved: { calls: 0 } })
  })

  test('a rate-limit reply pauses all other calls', async () => {
    const store = await makeStore()
    const allowance = new CallAllowance(store, { leaseMs: 60_000 })
    const settle = await allowance.admit(request)
    settle!({ ok: false, kind: 'rate_limited', message: '', durationMs: 1, retryAfter: '30' })
    await allowance.settled()
    const { admitted, waitMs } = await store.take([{ id: randomUUID(), input: 1, output: 1, money: 0 }], 1)
    expect(admitted).toBe(0)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThanOrEqual(30_000)
  })
})

describe('several processes', () => {
  const caller = (account: string, limiter: string, calls: number, leaseMs = 3_600_000) =>
    new Child(callerScript, address, account, limiter, String(calls), String(leaseMs))

  test('a killed process counts its possible spending as spent; the others continue', async () => {
    const [account, limiter] = [randomUUID(), randomUUID()]
    const store = await PostgresAllowanceStore.open(database, { account, limiter })
    const [killed, other] = [caller(account, limiter, 8, 0), caller(account, limiter, 20)]
    await Promise.all([killed.untilLines(8), other.untilLines(8)])
    await killed.kill()
    other.process.stdin!.write('free\n')
    await other.ended
    const atMost = { attempts: 8, tokens: 8 * 50, money: 0 }
    expect(await store.sums()).toMatchObject({ calls: 20, input: 600, output: 400, unknown: atMost })
  })

  test('one budget: a cap is exceeded by at most the calls in flight', async () => {
    const [account, limiter] = [randomUUID(), randomUUID()]
    const store = await PostgresAllowanceStore.open(database, { account, limiter })
    await store.setCaps({ calls: 30 })
    const callers = [1, 2, 3].map(() => caller(account, limiter, 60))
    await Promise.all(callers.map((one) => one.untilLines(8)))
    for (const one of callers) one.process.stdin!.write('free\n')
    await Promise.all(callers.map((one) => one.ended))
    const { calls } = await store.sums()
    expect(calls).toBeGreaterThanOrEqual(30)
    expect(calls).toBeLessThanOrEqual(30 + 3 * 8)
    const asked = callers.flatMap(({ lines }) => lines.filter((line) => line === 'asked'))
    expect(asked).toHaveLength(calls)
    const refused = callers.flatMap(({ lines }) => lines.filter((line) => line === 'refused calls'))
    expect(refused).toHaveLength(180 - calls)
  })

  test('one rate limit: together they stay within it', async () => {
    const [account, limiter] = [randomUUID(), randomUUID()]
    const store = await PostgresAllowanceStore.open(database, { account, limiter })
    await store.setLimits({ requestsPerMinute: 600 })
    const clock = async () =>
      (
        await database.query<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 AS now')
      )[0]!.now
    const start = await clock()
    const callers = [1, 2].map(() => caller(account, limiter, 20))
    for (const one of callers) one.process.stdin!.write('free\n')
    await Promise.all(callers.map((one) => one.ended))
    // By the limit's own clock: forty calls, a tenth of a second apart, minus the slack.
    expect(await clock()).toBeGreaterThanOrEqual(start + 39 * 0.1 - 0.6)
    expect(await store.sums()).toMatchObject({ calls: 40 })
  })
})
