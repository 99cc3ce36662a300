import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  d1Digest,
  d1Selection,
  q1Partition,
  q1Sample,
  q2GroupedPartition,
  q2Partition,
  q3Selection,
  tableOf,
} from './memberships.ts'

test('Q1 evaluates the first of the sorted sample and trains on the last', () => {
  const { evaluation, training } = q1Partition(12032)
  expect([evaluation.length, training.length]).toEqual([500, 100])
  expect(evaluation.slice(0, 3)).toEqual([6, 9, 27])
  expect(evaluation.at(-1)!).toBeLessThan(training[0]!)
})

test('Q1 keeps the drawn order beside the sorted one', () => {
  const { order, sorted } = q1Sample(7473, 100)
  expect(order.slice(0, 3)).toEqual([5238, 912, 204])
  expect(sorted.slice(0, 3)).toEqual([53, 204, 217])
})

test('Q2 parts do not overlap and keep the shuffled order', () => {
  const { evaluation, training } = q2Partition(12032)
  expect(evaluation.slice(0, 3)).toEqual([6360, 6542, 9839])
  expect(new Set([...evaluation, ...training]).size).toBe(200)
})

const pools = fc.uniqueArray(fc.tuple(fc.nat(12), fc.nat(40)), {
  selector: ([table, question]) => `${table}:${question}`,
  minLength: 40,
  maxLength: 120,
})

test('Q2 groups: no table on both sides, boundary groups are cut, and order within a group is kept', () => {
  fc.assert(
    fc.property(pools, fc.nat(), fc.integer({ min: 1, max: 10 }), (pairs, seed, size) => {
      const ids = pairs.map(([table, question]) => `${table}:${question}`)
      const groups = new Set(ids.map(tableOf))
      fc.pre(groups.size >= 2 * size)
      const { evaluation, training, groupOrder } = q2GroupedPartition(ids, {
        evaluation: size,
        training: size,
        seed,
      })
      expect([evaluation.ids.length, training.ids.length]).toEqual([size, size])
      expect(new Set(groupOrder)).toEqual(groups)
      const tables = new Set([...evaluation.ids, ...evaluation.discarded].map(tableOf))
      for (const id of [...training.ids, ...training.discarded]) expect(tables.has(tableOf(id))).toBe(false)
      for (const group of evaluation.groups) {
        const kept = [...evaluation.ids, ...evaluation.discarded].filter((id) => tableOf(id) === group)
        expect(kept).toEqual(ids.filter((id) => tableOf(id) === group))
      }
    }),
  )
})

test('a pool with too few groups is refused', () => {
  expect(() => q2GroupedPartition(['a:1', 'a:2'], { evaluation: 1, training: 1 })).toThrow(/too few groups/)
})

test('Q3 does not depend on pool order and excludes what Q2 used', () => {
  const ids = Array.from({ length: 60 }, (_, index) => String(index))
  const used = (id: string) => Number(id) < 20
  const selected = q3Selection(ids, used, { count: 10 })
  expect(q3Selection([...ids].reverse(), used, { count: 10 })).toEqual(selected)
  expect(selected.some(used)).toBe(false)
})

test('D1 takes the smallest digests, in any pool order', () => {
  const ids = Array.from({ length: 300 }, (_, index) => `q${index}`)
  const selected = d1Selection(ids, { count: 5 })
  expect(d1Selection([...ids].reverse(), { count: 5 })).toEqual(selected)
  const largest = selected.map((id) => d1Digest(id)).at(-1)!
  for (const id of ids) if (!selected.includes(id)) expect(d1Digest(id) > largest).toBe(true)
  expect(d1Digest('4579')).toBe('0005c00c753c9fcecb370c517cc9e9e89fcb0735ec0466b7df336a46752c24a0')
})
