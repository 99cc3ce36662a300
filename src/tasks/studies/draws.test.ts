import fc from 'fast-check'
import { expect, test } from 'vitest'
import { benchmarks } from '../benchmarks/list.ts'
import { sampled, sharedParts, whole } from './draws.ts'
import { Pool } from './pool.ts'

const pools = Object.values(benchmarks).flatMap((benchmark) =>
  Object.keys(benchmark.splits).map((split) => new Pool('/nowhere', benchmark, [split])),
)

test('draws by position need no file', () => {
  expect(pools.length).toBeGreaterThan(15)
  for (const pool of pools) expect(whole(pool).positions).toHaveLength(pool.size)
})

test('a sample is sorted, without repetition, and the whole pool if that is too small', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...pools),
      fc.integer({ min: 0, max: 300 }),
      fc.nat(),
      (pool, count, seed) => {
        const { positions } = sampled(pool, count, seed)
        expect(positions).toHaveLength(Math.min(count, pool.size))
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
      },
    ),
    { numRuns: 60 },
  )
})

test('parts of one pool do not overlap, and training takes at most half', () => {
  const small = pools.filter(({ size }) => size < 15_000)
  fc.assert(
    fc.property(
      fc.constantFrom(...small),
      fc.integer({ min: 1, max: 300 }),
      fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
      fc.nat(),
      (pool, training, evaluation, seed) => {
        const { train, test } = sharedParts(pool, { training, evaluation }, seed)
        const trained = train!.positions
        const tested = test!.positions
        expect(trained).toHaveLength(Math.min(training, Math.floor(pool.size / 2)))
        expect(tested).toHaveLength(Math.min(evaluation ?? pool.size, pool.size - trained.length))
        expect(new Set([...trained, ...tested]).size).toBe(trained.length + tested.length)
        expect(Math.max(...tested)).toBeLessThan(pool.size)
      },
    ),
    { numRuns: 60 },
  )
})
