import { expect, test } from 'vitest'
import type { Task } from '../../library/task.ts'
import { hardnessOf } from './hardness.ts'

const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')
const taskOf = (question: string, more: Partial<Task> = {}): Task => ({
  id: 'q',
  question,
  metadata: {},
  ...more,
})
const of = (length: number, id = 'q') => hardnessOf(taskOf(words(length), { id }))

test('grows with the logarithm of the words, between 30 and 240', () => {
  expect(of(85) - of(30)).toBeCloseTo((1.4 * Math.log(85 / 30)) / Math.log(8), 10)
  expect(of(240) - of(30)).toBeCloseTo(1.4, 10)
  expect(of(3)).toBe(of(30))
  expect(of(900)).toBe(of(240))
  expect(hardnessOf(taskOf(''))).toBe(of(30))
})

test('counts options, context and cells as words', () => {
  const plain = hardnessOf(taskOf(words(60)))
  const rows = Array.from({ length: 5 }, () => ['North Shore', words(4)])
  const parts: Partial<Task>[] = [
    { options: [{ label: 'A', text: words(30) }] },
    { context: [words(10), words(20)] },
    { tables: [{ name: 'sales', header: [words(50)], rows }] },
  ]
  for (const part of parts) expect(hardnessOf(taskOf(words(30), part))).toBeCloseTo(plain, 10)
})

test('otherwise depends on the id, spread evenly', () => {
  const all = Array.from({ length: 2000 }, (_, index) => of(30, `task-${index}`))
  expect(Math.min(...all)).toBeGreaterThanOrEqual(-1)
  expect(Math.max(...all)).toBeLessThan(-0.4)
  const quarters = [-1, -0.85, -0.7, -0.55].map(
    (from) => all.filter((one) => one >= from && one < from + 0.15).length,
  )
  for (const count of quarters) expect(Math.abs(count - 500)).toBeLessThan(80)
})
