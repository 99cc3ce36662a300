import { expect, test } from 'vitest'
import { allowanceContract } from './allowance.contract.ts'
import type { Claim } from './allowance-store.ts'
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
  await store.settle([{ id: String(number - 1), isAnswered: false, isUnknown: false, refusedMs: 1000 }])
  const after = await inMinutes(0.25)
  expect(after).toBeLessThan(520)
  expect(after).toBeGreaterThan(300)
  await inMinutes(5)
  expect(await inMinutes(1)).toBeGreaterThan(595)
})
