import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fuzzProtocol } from '../../../test/faults/fuzz-protocol.ts'
import {
  freeText,
  numericString,
  optionLabel,
  schemaContract,
  valuesAndScale,
} from '../../library/answer-contract.ts'
import { parseFinalResponse, parseNodeResponse } from './response.ts'

const final = (json: unknown, contract = optionLabel) => parseFinalResponse(JSON.stringify(json), contract)
const node = (json: unknown, contract = optionLabel) => parseNodeResponse(JSON.stringify(json), contract)

describe('several faults at once: order of checks', () => {
  test('broken JSON, then duplicate keys, then the rest', () => {
    expect(parseFinalResponse('{"a":1,"a":2', optionLabel)).toMatchObject({ reason: 'invalid_json' })
    expect(parseFinalResponse('[{"a":1,"a":2}]', optionLabel)).toMatchObject({ reason: 'duplicate_key' })
  })

  test('the envelope before the content', () => {
    expect(node({ kind: 'other', content: {} })).toMatchObject({ reason: 'bad_value' })
    expect(node({ kind: 3 })).toMatchObject({ reason: 'wrong_type' })
    expect(node({ content: [] })).toMatchObject({ reason: 'missing_field' })
  })

  test('within a level: missing, then type, then value', () => {
    expect(final({ analysis: 3 })).toMatchObject({ reason: 'missing_field' })
    expect(final({ analysis: ' ', answer: 3 })).toMatchObject({ reason: 'wrong_type' })
    expect(final({ analysis: ' ', answer: null })).toMatchObject({ reason: 'bad_value' })
    expect(node({ kind: 'tool_request', tool_request: { tool: '', payload: [] } })).toMatchObject({
      reason: 'wrong_type',
    })
    expect(node({ kind: 'tool_request', tool_request: { tool: '' } })).toMatchObject({
      reason: 'missing_field',
    })
  })

  test("the content before the answer's fields, and those before the contract", () => {
    expect(final({ analysis: '', answer: {} }, valuesAndScale)).toMatchObject({ reason: 'bad_value' })
    const nested = (answer: object) => final({ analysis: 'x', answer }, valuesAndScale)
    expect(nested({ values: 1, unit: 1 })).toMatchObject({ reason: 'missing_field' })
    expect(nested({ values: 1, scale: 1, unit: 1 })).toMatchObject({ reason: 'extra_field' })
    expect(nested({ values: [], scale: null })).toMatchObject({ reason: 'wrong_type' })
    expect(nested({ values: [1], scale: 'dozen' })).toMatchObject({ reason: 'wrong_type' })
    expect(final({ analysis: ' ', answer: 'AB' })).toMatchObject({ reason: 'bad_value' })
  })
})

describe('parsed result', () => {
  test('is well-formed text throughout', () => {
    const lone = '\\udc00'
    expect(parseFinalResponse(`{"analysis":"a${lone}","answer":"b${lone}"}`, freeText)).toEqual({
      class: 'content',
      analysis: 'a\ufffd',
      answer: 'b\ufffd',
    })
    const request = `{"kind":"tool_request","tool_request":{"tool":"t${lone}","payload":{"k${lone}":["v${lone}"]}}}`
    expect(parseNodeResponse(request, freeText)).toEqual({
      class: 'tool_request',
      tool: 't\ufffd',
      payload: { 'k\ufffd': ['v\ufffd'] },
    })
  })

  test('keeps only analysis, answer, tool and payload', () => {
    const said = { analysis: 'x', answer: 'A', status: 'ok', tokens: 3, tool_observation: { stdout: '42' } }
    expect(final(said)).toEqual({ class: 'content', analysis: 'x', answer: 'A' })
  })

  test('keeps the answer unchanged, including white space', () => {
    expect(final({ analysis: ' x ', answer: ' 1,000 ' }, numericString)).toEqual({
      class: 'content',
      analysis: ' x ',
      answer: ' 1,000 ',
    })
  })

  test('drops a payload that is too deep', () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
    const request = `{"kind":"tool_request","tool_request":{"tool":"calculator","payload":{"x":${deep}}}}`
    expect(parseNodeResponse(request, freeText)).toEqual({ class: 'tool_request', tool: 'calculator' })
  })

  test('places an answer that is too deep outside any contract', () => {
    const any = schemaContract({ name: 'any', requirement: 'Any JSON.', example: 1, schema: z.any() })
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
    expect(parseFinalResponse(`{"analysis":"x","answer":${deep}}`, any).class).toBe('contract_violation')
  })
})

test('of fifty thousand mutated responses, none throws and every class occurs', () => {
  const outcomes = fuzzProtocol(20261116, 50_000)
  expect([...outcomes.keys()].sort()).toEqual([
    'bad_value',
    'content',
    'contract_violation',
    'duplicate_key',
    'extra_field',
    'invalid_json',
    'missing_field',
    'not_an_object',
    'null_answer',
    'tool_request',
    'wrong_type',
  ])
})
