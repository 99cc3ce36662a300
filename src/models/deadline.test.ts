import { describe, expect, test } from 'vitest'
import { ManualClock, settled } from '../../test/manual-clock.ts'
import { isReleased, rememberingSignal } from '../../test/released.ts'
import { setAlarm } from './clock.ts'
import { withDeadline } from './deadline.ts'

const never = new AbortController().signal

describe('work with a deadline', () => {
  test('that ends in time leaves neither timer nor listener', async () => {
    const clock = new ManualClock()
    expect(await withDeadline(100, never, async () => ({ done: true }), clock)).toEqual({ done: true })
    expect(clock.pending).toBe(0)
  })

  test('that has ended is not kept alive by its removed listener', async () => {
    const { signal, listeners } = rememberingSignal()
    const made = await (async () => {
      const result = { done: true }
      await withDeadline(100, signal, async () => result, new ManualClock())
      return new WeakRef(result)
    })()
    expect(await isReleased(made)).toBe(true)
    expect(listeners).toHaveLength(1)
  })

  test('that fails rejects with its error', async () => {
    const clock = new ManualClock()
    await expect(withDeadline(100, never, () => Promise.reject(new Error('later')), clock)).rejects.toThrow(
      'later',
    )
    const atOnce = () => {
      throw new Error('at once')
    }
    await expect(withDeadline(100, never, atOnce, clock)).rejects.toThrow('at once')
    expect(clock.pending).toBe(0)
  })

  test('that does not end is told to stop and abandoned', async () => {
    const clock = new ManualClock()
    let told = false
    let fail: (error: Error) => void = () => {}
    const work = (signal: AbortSignal) =>
      new Promise<object>((_, reject) => {
        signal.addEventListener('abort', () => {
          told = true
        })
        fail = reject
      })
    const ended = withDeadline(100, never, work, clock)
    await clock.advance(100)
    expect(await ended).toBe('timeout')
    expect(told).toBe(true)
    // Later outcomes are ignored, including a rejection.
    fail(new Error('too late'))
    await settled()
  })

  test('ends with the signal', async () => {
    const clock = new ManualClock()
    const abort = new AbortController()
    const ended = withDeadline(100, abort.signal, () => new Promise<object>(() => {}), clock)
    abort.abort()
    expect(await ended).toBe('aborted')
    expect(clock.pending).toBe(0)
    expect(await withDeadline(100, abort.signal, async () => ({}), clock)).toBe('aborted')
  })
})

test("an alarm beyond a timer's maximum does not go off at once", async () => {
  let rung = false
  const callOff = setAlarm({ now: () => 0, sleep: async () => {} }, 1e12, () => {
    rung = true
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  callOff()
  expect(rung).toBe(false)
})
