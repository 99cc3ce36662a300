import { expect, test } from 'vitest'
import {
  type Counting,
  JumpingClock,
  RefusingProvider,
  shortRequest,
} from '../../../test/refusing-provider.ts'
import { CallLimit } from '../../models/call-limit.ts'
import { callModel } from '../../models/retry.ts'
import { allowanceContract } from './allowance.contract.ts'
import type { Claim } from './allowance-store.ts'
import { CallAllowance } from './call-allowance.ts'
import { MemoryAllowanceStore } from './memory-store.ts'

allowanceContract(async () => {
  const store = new MemoryAllowanceStore()
  return { one: store, other: store }
})

const claim = (number: number): Claim => ({ id: String(number), input: 0, output: 0, money: 0 })

test.for([7, 60, 333])('every minute has at most %d requests, and uses them all', async (limit) => {
  let now = 0
  const store = new MemoryAllowanceStore(() => now)
  await store.setLimits({ requestsPerMinute: limit })
  const times: number[] = []
  while (now < 5 * 60_000) {
    const wanted = Array.from({ length: 8 }, (_, index) => claim(times.length + index))
    const { admitted, waitMs } = await store.take(wanted, 1e9)
    for (let count = 0; count < admitted; count += 1) times.push(now)
    if (admitted < 8) now += Math.max(waitMs, 1e-6)
  }
  for (const [index, start] of times.entries()) {
    const inMinute = times.slice(index).findIndex((time) => time - start >= 60_000)
    if (inMinute >= 0) expect(inMinute).toBeLessThanOrEqual(Math.ceil(1.01 * limit) + 1)
  }
  expect(times.length).toBeGreaterThanOrEqual(5 * limit)
})

test('after a rate-limit reply the rate recovers up to the limit', async () => {
  let now = 0
  const store = new MemoryAllowanceStore(() => now)
  await store.setLimits({ requestsPerMinute: 600 })
  let number = 0
  const inMinutes = async (minutes: number) => {
    const [start, end] = [number, now + minutes * 60_000]
    while (now < end) {
      const { admitted, waitMs } = await store.take([claim(number)], 1e9)
      number += admitted
      now += Math.max(waitMs, 1e-6)
    }
    return (number - start) / minutes
  }
  expect(await inMinutes(1)).toBeGreaterThan(595)
  await store.settle([
    { id: String(number - 1), isAnswered: false, isUnknown: false, refused: { waitMs: 1000 } },
  ])
  const after = await inMinutes(0.25)
  expect(after).toBeLessThan(520)
  expect(after).toBeGreaterThan(300)
  await inMinutes(5)
  expect(await inMinutes(1)).toBeGreaterThan(595)
})

const countings: readonly Counting[] = ['fixed', 'sliding', 'bucket']
const providers = [30, 300].flatMap((limit) =>
  countings.flatMap((counting) => [true, false].map((tellsWait) => ({ limit, counting, tellsWait }))),
)

test.for(providers)(
  'four workers find an unstated limit of $limit a minute ($counting, Retry-After: $tellsWait)',
  async ({ limit, counting, tellsWait }) => {
    const clock = new JumpingClock()
    const provider = new RefusingProvider(limit, counting, tellsWait, clock)
    const store = new MemoryAllowanceStore(() => clock.now())
    const failed: unknown[] = []
    const minutes = 10
    const end = minutes * 60_000
    for (let worker = 0; worker < 4; worker += 1) {
      const given = {
        ...{ clock, limit: new CallLimit(8) },
        allowance: new CallAllowance(store, { leaseMs: 1e9, clock }),
      }
      const callOnAndOn = async () => {
        while (clock.now() < end) {
          const { reply } = await callModel(provider, shortRequest, given)
          if (!reply.ok) failed.push(reply)
        }
      }
      for (let job = 0; job < 16; job += 1) callOnAndOn().catch((error) => failed.push(error))
    }
    await clock.run(end)
    // No call was refused four times, which would have spoiled its evaluation.
    expect(failed).toEqual([])
    const since = (from: number) => (at: number) => at >= from * 60_000
    const refused = provider.refused.filter(since(2)).length / (minutes - 2)
    expect(refused).toBeLessThanOrEqual(tellsWait ? 3 : 6)
    expect(provider.accepted.filter(since(2)).length).toBeGreaterThan(0.88 * limit * (minutes - 2))
  },
)
