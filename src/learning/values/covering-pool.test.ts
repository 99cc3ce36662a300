import fc from 'fast-check'
import { expect, test } from 'vitest'
import { coveringPool } from './covering-pool.ts'

test('picks the best graph overall first, then the ones that add most where it is weak', () => {
  const worths = [Float64Array.of(0.6, 0.6, 0.6), Float64Array.of(0.7, 0.5, 0.5), Float64Array.of(0, 0, 1)]
  expect(coveringPool(worths, 2)).toEqual([0, 2])
  expect(coveringPool(worths, 9)).toEqual([0, 2, 1])
  expect(coveringPool(worths, 2, [2])).toEqual([2, 0])
})

test('members are unique, and each addition covers as well as any other could', () => {
  const worth = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(
      fc.array(worth, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (rows, size) => {
        const worths = rows.map((row) => Float64Array.from(row))
        const pool = coveringPool(worths, size)
        expect(new Set(pool).size).toBe(Math.min(size, rows.length))
        const covered = (members: readonly number[]) =>
          [0, 1, 2, 3].reduce((sum, q) => sum + Math.max(...members.map((member) => rows[member]![q]!)), 0)
        for (const [place, member] of pool.entries()) {
          const before = pool.slice(0, place)
          for (const other of rows.keys())
            if (!before.includes(other))
              expect(covered([...before, member])).toBeGreaterThanOrEqual(covered([...before, other]))
        }
      },
    ),
  )
})
