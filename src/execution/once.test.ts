import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { settled } from '../../test/manual-clock.ts'
import { type Made, MemoryShelf, Once } from './once.ts'

/** Work that ends on command and records whether it was told to stop. */
class Work {
  readonly #end = Promise.withResolvers<Made<string>>()
  readonly signals: AbortSignal[] = []
  readonly fail = this.#end.reject
  finish(value: string, keep = true): void {
    this.#end.resolve({ value, keep })
  }
  readonly make = (signal: AbortSignal): Promise<Made<string>> => {
    this.signals.push(signal)
    return this.#end.promise
  }
}

const making = (value: string, keep = true) => {
  const work = new Work()
  work.finish(value, keep)
  return work
}

const open = () => new Once(new MemoryShelf<string>())

describe('a key', () => {
  test('is computed once at a time, then found', async () => {
    const once = open()
    const work = new Work()
    const three = [1, 2, 3].map(() => once.once('k', work.make))
    const other = await once.once('other', making('x').make)
    work.finish('done')
    const value = { value: 'done', isKept: true }
    expect(await Promise.all(three)).toEqual([
      { ...value, origin: 'made' },
      { ...value, origin: 'shared' },
      { ...value, origin: 'shared' },
    ])
    expect(other).toEqual({ value: 'x', origin: 'made', isKept: true })
    expect(await once.once('k', work.make)).toEqual({ ...value, origin: 'kept' })
    expect(work.signals).toHaveLength(1)
  })

  test('is computed again after a result not worth keeping', async () => {
    const once = open()
    const poor = making('poor', false)
    const both = [1, 2].map(() => once.once('k', poor.make))
    expect(await Promise.all(both)).toEqual([
      { value: 'poor', origin: 'made', isKept: false },
      { value: 'poor', origin: 'shared', isKept: false },
    ])
    expect(await once.once('k', making('good').make)).toMatchObject({ value: 'good', origin: 'made' })
  })

  test('keys may be objects with a name', async () => {
    const shelf = new MemoryShelf<string>()
    const nameOf = ({ id }: { id: number }) => `number ${id}`
    const once = new Once<string, { id: number }>(
      {
        find: (key) => shelf.find(nameOf(key)),
        keep: (key, value) => shelf.keep(nameOf(key), value),
      },
      nameOf,
    )
    const work = making('x')
    await Promise.all([1, 1, 2].map((id) => once.once({ id }, work.make)))
    expect(work.signals).toHaveLength(2)
  })
})

describe('failure', () => {
  test('reaches every waiter and no later caller', async () => {
    const once = open()
    const work = new Work()
    const both = [1, 2].map(() => once.once('k', work.make))
    work.fail(new Error('no'))
    for (const one of both) await expect(one).rejects.toThrow('no')
    const atOnce = () => {
      throw new Error('at once')
    }
    await expect(once.once('k', atOnce)).rejects.toThrow('at once')
    expect(await once.once('k', making('yes').make)).toMatchObject({ value: 'yes' })
  })

  test.for(['find', 'keep'] as const)(
    'a shelf that cannot %s throws instead of returning another value',
    async (method) => {
      const shelf = new MemoryShelf<string>()
      shelf[method] = () => Promise.reject(new Error('disk full'))
      const both = [1, 2].map(() => new Once(shelf).once('k', making('x').make))
      for (const one of both) await expect(one).rejects.toThrow('disk full')
    },
  )

  test('a crash while storing returns nothing', async () => {
    const shelf = new MemoryShelf<string>()
    const crashing = new Once<string>({ find: (key) => shelf.find(key), keep: () => new Promise(() => {}) })
    let isHandedOn = false
    crashing.once('k', making('lost').make).then(() => (isHandedOn = true))
    await settled()
    expect(isHandedOn).toBe(false)
    // The next process computes it again.
    expect(await new Once(shelf).once('k', making('again').make)).toMatchObject({ value: 'again' })
  })

  test('if another process was first, its value is returned', async () => {
    const shelf = new MemoryShelf<string>()
    const [here, there] = [new Once(shelf), new Once(shelf)]
    const work = new Work()
    const slow = here.once('k', work.make)
    await settled()
    await there.once('k', making('first').make)
    work.finish('second')
    expect(await slow).toEqual({ value: 'first', origin: 'made', isKept: true })
  })
})

describe('cancelling', () => {
  test('one waiter leaves the others with the value, counted as made', async () => {
    const once = open()
    const work = new Work()
    const leaving = new AbortController()
    const first = once.once('k', work.make, leaving.signal)
    const second = once.once('k', work.make)
    await settled()
    leaving.abort(new Error('called off'))
    await expect(first).rejects.toThrow('called off')
    expect(work.signals[0]!.aborted).toBe(false)
    work.finish('done')
    expect(await second).toEqual({ value: 'done', origin: 'made', isKept: true })
    expect(work.signals[0]!.aborted).toBe(false)
  })

  test('the last waiter stops the work, and returns what it still produced', async () => {
    const once = open()
    const work = new Work()
    const [one, two] = [new AbortController(), new AbortController()]
    const first = once.once('k', work.make, one.signal)
    const second = once.once('k', work.make, two.signal)
    await settled()
    one.abort()
    await expect(first).rejects.toThrow(/abort/i)
    two.abort(new Error('enough'))
    expect(work.signals[0]!.aborted).toBe(true)
    expect(work.signals[0]!.reason).toEqual(new Error('enough'))
    // A new caller starts its own work.
    expect(await once.once('k', making('fresh').make)).toMatchObject({ value: 'fresh', origin: 'made' })
    work.finish('half', false)
    expect(await second).toEqual({ value: 'half', origin: 'made', isKept: false })
    expect(await once.once('k', work.make)).toMatchObject({ value: 'fresh', origin: 'kept' })
  })

  test('before asking starts nothing', async () => {
    const work = new Work()
    await expect(open().once('k', work.make, AbortSignal.abort())).rejects.toThrow(/abort/i)
    expect(work.signals).toEqual([])
  })

  test('after the end changes nothing', async () => {
    const work = making('done')
    const late = new AbortController()
    await open().once('k', work.make, late.signal)
    late.abort()
    expect(work.signals[0]!.aborted).toBe(false)
  })
})

/** Events for one key, in any order. */
type Step =
  | { readonly type: 'ask'; readonly keep: boolean }
  | { readonly type: 'leave' | 'finish' | 'fail'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('ask' as const), keep: fc.boolean() }) },
  fc.record({
    type: fc.constantFrom('leave' as const, 'finish' as const, 'fail' as const),
    which: fc.nat(9),
  }),
)

test('holds in any order of asking, cancelling, ending and failing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const once = open()
      const works: { work: Work; keep: boolean; ended: boolean }[] = []
      const askers: { abort: AbortController; outcome: Promise<PromiseSettledResult<unknown>> }[] = []
      const running = () => works.filter(({ ended, work }) => !ended && !work.signals[0]!.aborted)
      for (const now of steps) {
        if (now.type === 'ask') {
          const own = { work: new Work(), keep: now.keep, ended: false }
          const make = (signal: AbortSignal) => {
            works.push(own)
            return own.work.make(signal)
          }
          const abort = new AbortController()
          const asked = Promise.allSettled([once.once('k', make, abort.signal)])
          askers.push({ abort, outcome: asked.then(([outcome]) => outcome!) })
        } else if (now.type === 'leave') askers[now.which % Math.max(1, askers.length)]?.abort.abort()
        else {
          const work = works[now.which % Math.max(1, works.length)]
          if (work !== undefined && !work.ended) {
            work.ended = true
            if (now.type === 'fail') work.work.fail(new Error('failed'))
            else work.work.finish('value', work.keep)
          }
        }
        await settled()
        // Never two uncancelled computations.
        expect(running().length).toBeLessThanOrEqual(1)
      }
      for (const one of works) if (!one.ended) one.work.finish('value', one.keep)
      const outcomes = await Promise.all(askers.map(({ outcome }) => outcome))
      // Every caller got an outcome, and each value was counted at most once.
      expect(outcomes).toHaveLength(askers.length)
      const values = outcomes.flatMap((one) =>
        one.status === 'fulfilled' ? [one.value as { origin: string }] : [],
      )
      expect(values.filter(({ origin }) => origin === 'made').length).toBeLessThanOrEqual(works.length)
      for (const one of outcomes)
        if (one.status === 'rejected') expect(String(one.reason)).toMatch(/failed|abort/i)
    }),
    { numRuns: 300 },
  )
})
