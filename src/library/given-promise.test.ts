import { expect, test } from 'vitest'
import { awaitGiven, unsettledPromises } from './given-promise.ts'

test('a pending promise is listed until it settles', async () => {
  const slow = Promise.withResolvers<number>()
  const failing = Promise.withResolvers<number>()
  const waiting = [
    awaitGiven(slow.promise, 'The first.'),
    awaitGiven(slow.promise, 'The first.'),
    awaitGiven(failing.promise, 'The second.'),
  ]
  expect(unsettledPromises()).toEqual(['The first.', 'The second.'])
  slow.resolve(1)
  failing.reject(new Error('no luck'))
  expect(await Promise.allSettled(waiting)).toMatchObject([
    { value: 1 },
    { value: 1 },
    { status: 'rejected' },
  ])
  expect(unsettledPromises()).toEqual([])
})

test('a value that is not a promise is returned as is', async () => {
  expect(await awaitGiven(7, 'Never told.')).toBe(7)
})
