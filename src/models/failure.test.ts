import { expect, test } from 'vitest'
import { blamesRequest } from './failure.ts'

test.each([
  [{ code: 'context_length_exceeded' }, true],
  [{ type: 'content_filter' }, true],
  [{ code: 'DataInspectionFailed' }, true],
  [{ message: "This model's maximum context length is 8192 tokens." }, true],
  [{ message: 'prompt is too long: 210000 tokens > 200000 maximum' }, true],
  [{ message: 'Input data may contain inappropriate content.' }, true],
  [{ message: "I'm a teapot", code: 'teapot' }, false],
  [{ message: 'Bad Request', type: 'invalid_request_error' }, false],
  [{}, false],
])('%j: blames the request: %s', (error, blamed) => {
  expect(blamesRequest(error)).toBe(blamed)
})
