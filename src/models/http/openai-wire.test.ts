import { expect, test } from 'vitest'
import { readErrorBody } from './openai-wire.ts'

test.each([
  ['{"error":{"message":"no such model","code":"model_not_found"}}', 'no such model'],
  ['{"error":"no such model"}', 'no such model'],
  ['{"message":"no such model"}', 'no such model'],
  ['{"detail":"no such model"}', 'no such model'],
  [
    '{"detail":[{"loc":["body","model"],"msg":"field required"}]}',
    '[{"loc":["body","model"],"msg":"field required"}]',
  ],
  ['Invalid token. Get one at the console.', 'Invalid token. Get one at the console.'],
  ['<html><head><title>404</title></head><body><h1>Not Found</h1></body></html>', '404 Not Found'],
  ['', undefined],
])("finds the server's message in %j", (body, message) => {
  expect(readErrorBody(body).message).toBe(message)
})

test('a page crafted for slow patterns is read at once', () => {
  expect(readErrorBody('<'.repeat(1_000_000)).message?.length).toBe(4000)
})
