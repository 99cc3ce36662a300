import { describe, expect, test } from 'vitest'
import { SingleFlight } from './single-flight.ts'

/** Work that ends when it is told to, and tells whether it was called off. */
class Work {
  readonly #end = Promise.withResolvers<string>()
  readonly signals: AbortSignal[] = []
  readonly finish = this.#end.resolve
  readonly fail = this.#end.reject

  readonly run = (signal: AbortSignal): Promise<string> => {
    this.signals.push(signal)
    return this.#end.promise
  }
}

describe('single flight', () => {
  test('one key, one piece of work at a time', async () => {
    const flight = new SingleFlight<string>()
    const work = new Work()
    const both = [flight.run('k', work.run), flight.run('k', work.run)]
    const other = await flight.run('other', async () => 'x')
    work.finish('done')
    expect(await Promise.all(both)).toEqual([
      { value: 'done', led: true },
      { value: 'done', led: false },
    ])
    expect(other).toEqual({ value: 'x', led: true })
    expect(work.signals).toHaveLength(1)
    expect(await flight.run('k', async () => 'again')).toEqual({ value: 'again', led: true })
  })

  test('a failure reaches all who wait, and nobody after', async () => {
    const flight = new SingleFlight<string>()
    const work = new Work()
    const both = [flight.run('k', work.run), flight.run('k', work.run)]
    work.fail(new Error('no'))
    for (const one of both) await expect(one).rejects.toThrow('no')
    expect(await flight.run('k', async () => 'yes')).toMatchObject({ value: 'yes' })
    await expect(
      flight.run('k', () => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
  })

  test('the work is called off when the last asker has left, and not before', async () => {
    const flight = new SingleFlight<string>()
    const work = new Work()
    const [one, two] = [new AbortController(), new AbortController()]
    const first = flight.run('k', work.run, one.signal)
    const second = flight.run('k', work.run, two.signal)
    one.abort()
    await expect(first).rejects.toThrow(/abort/i)
    expect(work.signals[0]!.aborted).toBe(false)
    two.abort()
    await expect(second).rejects.toThrow(/abort/i)
    expect(work.signals[0]!.aborted).toBe(true)
    // Whoever comes now gets work of their own, and what the abandoned one still brings changes nothing.
    const next = flight.run('k', async () => 'fresh')
    work.fail(new Error('called off'))
    expect(await next).toEqual({ value: 'fresh', led: true })
  })

  test('a signal that has come already starts nothing', async () => {
    const flight = new SingleFlight<string>()
    const work = new Work()
    await expect(flight.run('k', work.run, AbortSignal.abort())).rejects.toThrow(/abort/i)
    expect(work.signals).toEqual([])
  })

  test('work that has ended is not called off afterwards', async () => {
    const flight = new SingleFlight<string>()
    const work = new Work()
    const asked = flight.run('k', work.run, new AbortController().signal)
    work.finish('done')
    await asked
    expect(work.signals[0]!.aborted).toBe(false)
  })
})
