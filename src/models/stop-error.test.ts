import { expect, test } from 'vitest'
import { ModelRefusedError } from './stop-error.ts'

test.each([
  ['unauthorized', 'Check the API key'],
  ['payment_required', 'Top up the balance'],
  ['quota_exhausted', 'Top up the balance'],
  ['forbidden', 'Get access to this model'],
] as const)("%s: shows the server's message and the remedy", (kind, remedy) => {
  const error = new ModelRefusedError(kind, 'No such key')
  expect(error.kind).toBe(kind)
  expect(error.message).toContain(`(${kind}): No such key. ${remedy}`)
})
