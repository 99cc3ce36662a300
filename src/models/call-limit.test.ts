import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CallLimit, processCallLimit } from './call-limit.ts'

test('calls in flight stay within the limit, and all get a turn', async () => {
  const limit = new CallLimit(3)
  let most = 0
  let done = 0
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const release = await limit.acquire()
      most = Math.max(most, limit.inFlight)
      await new Promise((resolve) => setImmediate(resolve))
      done += 1
      release!()
    }),
  )
  expect([most, done, limit.inFlight, limit.waiting]).toEqual([3, 50, 0, 0])
})

test('a free slot is taken at once, but never before those who wait or for an aborted call', async () => {
  const limit = new CallLimit(1)
  expect(limit.takeFree(AbortSignal.abort())).toBeUndefined()
  const first = limit.takeFree()
  expect([typeof first, limit.takeFree(), limit.inFlight]).toEqual(['function', undefined, 1])
  const second = limit.acquire()
  first!()
  // The slot is free until the next turn, but it belongs to the one who waits.
  expect([limit.inFlight, limit.takeFree()]).toEqual([0, undefined])
  const release = await second
  release!()
  expect(typeof limit.takeFree()).toBe('function')
})

test('the highest priority goes first, ties in order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 }), async (priorities) => {
      const limit = new CallLimit(1)
      const first = await limit.acquire()
      const started: { priority: number; order: number }[] = []
      const all = priorities.map(async (priority, order) => {
        const release = await limit.acquire(priority)
        started.push({ priority, order })
        release!()
      })
      first!()
      await Promise.all(all)
      const expected = priorities
        .map((priority, order) => ({ priority, order }))
        .sort((a, b) => b.priority - a.priority || a.order - b.order)
      expect(started).toEqual(expected)
    }),
  )
})

test('a follow-up call goes ahead of waiting ones if it is more urgent', async () => {
  const limit = new CallLimit(1)
  const order: string[] = []
  const call = async (name: string, priority: number, then?: () => Promise<void>) => {
    const release = await limit.acquire(priority)
    order.push(name)
    release!()
    // A few steps, as reading a reply takes.
    for (let step = 0; step < 20; step += 1) await Promise.resolve()
    await then?.()
  }
  await Promise.all([call('a1', 3, () => call('a2', 2, () => call('a3', 1))), call('b', 1), call('c', 1)])
  expect(order).toEqual(['a1', 'a2', 'b', 'c', 'a3'])
})

describe('cancelling', () => {
  test('a cancelled caller leaves the queue, and the next one takes its place', async () => {
    const limit = new CallLimit(1)
    const first = await limit.acquire()
    const abort = new AbortController()
    const given = limit.acquire(9, abort.signal)
    const next = limit.acquire(1)
    expect(limit.waiting).toBe(2)
    abort.abort()
    expect(await given).toBeUndefined()
    expect(limit.waiting).toBe(1)
    first!()
    expect(await next).toBeTypeOf('function')
    expect([limit.inFlight, limit.waiting]).toEqual([1, 0])
  })

  test('an aborted signal gets no slot; a later abort keeps it', async () => {
    const limit = new CallLimit(1)
    expect(await limit.acquire(0, AbortSignal.abort())).toBeUndefined()
    const abort = new AbortController()
    const release = await limit.acquire(0, abort.signal)
    abort.abort()
    expect(limit.inFlight).toBe(1)
    release!()
    release!()
    expect(limit.inFlight).toBe(0)
  })
})

test('a limit must be a whole number from 1', () => {
  for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => new CallLimit(wrong)).toThrow(RangeError)
})

test('the process-wide limit is eight', () => {
  expect(processCallLimit.limit).toBe(8)
})
