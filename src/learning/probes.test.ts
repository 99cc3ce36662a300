import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ProbeSelection, selectProbes } from './probes.ts'

const pool = Array.from({ length: 100 }, (_, index) => `gsm8k-train-${index}`)
const selection: ProbeSelection = { seed: 42, query: pool[7]!, update: 0, dataVersion: 'v1', pool, count: 4 }

test('selects the requested number of probes, without the query and without duplicates', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.constantFrom(...pool), (seed, update, query) => {
      const probes = selectProbes({ ...selection, seed, update, query })
      expect(probes).toHaveLength(4)
      expect(new Set(probes).size).toBe(4)
      expect(probes).not.toContain(query)
      for (const probe of probes) expect(pool).toContain(probe)
    }),
  )
})

// Computed with Python's hashlib and json.
test('the same inputs select the same probes on every machine', () => {
  expect(selectProbes(selection)).toEqual([
    'gsm8k-train-43',
    'gsm8k-train-23',
    'gsm8k-train-49',
    'gsm8k-train-27',
  ])
})

test('order and duplicates in the pool do not matter', () => {
  const probes = selectProbes(selection)
  fc.assert(
    fc.property(
      fc.shuffledSubarray(pool, { minLength: pool.length }),
      fc.subarray(pool),
      (shuffled, again) => {
        expect(selectProbes({ ...selection, pool: [...shuffled, ...again] })).toEqual(probes)
      },
    ),
  )
})

test('a longer selection extends a shorter one', () => {
  const all = selectProbes({ ...selection, count: 99 })
  expect([...all].sort()).toEqual(pool.filter((id) => id !== selection.query).sort())
  for (const count of [0, 1, 4, 50]) {
    expect(selectProbes({ ...selection, count })).toEqual(all.slice(0, count))
  }
})

test('seed, query, update and data version each reorder the pool', () => {
  const variants = [
    selection,
    { ...selection, seed: 43 },
    { ...selection, query: pool[8]! },
    { ...selection, update: 1 },
    { ...selection, dataVersion: 'v2' },
    // The parts of a key are separated.
    { ...selection, seed: 4, update: 20 },
  ].map((variant) => selectProbes({ ...variant, count: 20 }).join())
  expect(new Set(variants).size).toBe(variants.length)
})

test('selection over many updates is even', () => {
  const times = new Map(pool.map((id) => [id, 0]))
  for (let update = 0; update < 1000; update += 1) {
    for (const probe of selectProbes({ ...selection, update })) times.set(probe, times.get(probe)! + 1)
  }
  times.delete(selection.query)
  // 4000 draws over 99 tasks: 40 each, with a standard deviation near 6.
  expect(Math.min(...times.values())).toBeGreaterThan(15)
  expect(Math.max(...times.values())).toBeLessThan(70)
})

test('a small pool is returned whole', () => {
  expect(selectProbes({ ...selection, pool: [selection.query] })).toEqual([])
  expect(selectProbes({ ...selection, pool: [] })).toEqual([])
  expect(selectProbes({ ...selection, pool: ['b', 'a', selection.query] }).sort()).toEqual(['a', 'b'])
})
