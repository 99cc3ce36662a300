import { expect, test } from 'vitest'
import { RecentRate } from './recent-rate.ts'

test('unknown until something was done', () => {
  const rate = new RecentRate(0, 40)
  expect(rate.perSecond(60_000)).toBeUndefined()
  rate.add(500, 40)
  expect(rate.perSecond(60_000)).toBeUndefined()
})

test('what was done before the start does not count', () => {
  const rate = new RecentRate(0, 40)
  rate.add(1000, 41)
  expect(rate.perSecond(1000)).toBe(1)
})

test('a slow start is forgotten after half a minute', () => {
  const rate = new RecentRate(0, 0)
  rate.add(100_000, 1)
  for (let second = 1; second <= 60; second += 1) rate.add(100_000 + second * 1000, 1 + 2 * second)
  expect(rate.perSecond(160_000)).toBeCloseTo(2, 1)
})

test('steps that take minutes are averaged over the last eight', () => {
  const rate = new RecentRate(0, 0)
  for (let step = 1; step <= 20; step += 1) rate.add(step * 60_000, step)
  expect(rate.perSecond(20 * 60_000)).toBeCloseTo(1 / 60)
})

test('thousands of steps a second are counted too', () => {
  const rate = new RecentRate(0, 0)
  for (let step = 1; step <= 100_000; step += 1) rate.add(step, step)
  expect(rate.perSecond(100_000)).toBeCloseTo(1000, 0)
})

test('holds between two steps and falls when the next is overdue', () => {
  const rate = new RecentRate(0, 0)
  for (let step = 1; step <= 10; step += 1) rate.add(step * 1000, step)
  expect(rate.perSecond(10_900)).toBe(1)
  expect(rate.perSecond(21_000)).toBe(0.5)
})

test('a count that goes back begins anew', () => {
  const rate = new RecentRate(0, 0)
  rate.add(1000, 10)
  rate.add(2000, 2)
  expect(rate.perSecond(2000)).toBeUndefined()
  rate.add(3000, 3)
  expect(rate.perSecond(3000)).toBe(1)
})
