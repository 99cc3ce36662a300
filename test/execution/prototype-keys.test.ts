import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseFinalResponse, parseNodeResponse } from '../../src/execution/protocol/response.ts'
import { optionLabel, valuesAndScale } from '../../src/library/answer-contract.ts'

const { prototype } = Object
const before = Object.getOwnPropertyNames(prototype)
// Permanently: this file has its own process.
beforeAll(() => void Object.freeze(Object.prototype))
afterAll(() => expect(Object.getOwnPropertyNames(prototype)).toEqual(before))

test('fields are never inherited', () => {
  expect(parseFinalResponse('{"__proto__":{"analysis":"x","answer":"A"}}', optionLabel)).toMatchObject({
    reason: 'missing_field',
  })
  expect(parseNodeResponse('{"kind":"constructor","constructor":{}}', optionLabel)).toMatchObject({
    reason: 'bad_value',
  })
})

test('an extra key in a TAT-QA answer is refused, whatever its name', () => {
  for (const key of ['__proto__', 'constructor', 'toString', 'length'])
    expect(
      parseFinalResponse(`{"analysis":"x","answer":{"values":["1"],"scale":"","${key}":1}}`, valuesAndScale),
    ).toMatchObject({ reason: 'extra_field' })
})

test('a payload keeps the key as data', () => {
  const response = parseNodeResponse(
    '{"kind":"tool_request","tool_request":{"tool":"t","payload":{"__proto__":{"polluted":true}}}}',
    optionLabel,
  )
  expect(JSON.stringify(response)).toContain('"__proto__":{"polluted":true}')
  expect((response as { payload: { polluted?: boolean } }).payload.polluted).toBeUndefined()
})
