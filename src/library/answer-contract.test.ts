import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { benchmarkContracts } from '../tasks/benchmarks/list.ts'
import {
  type AnswerContract,
  booleanString,
  codeString,
  freeText,
  numericString,
  optionLabel,
  schemaContract,
  valuesAndScale,
} from './answer-contract.ts'
import { canonicalJson, type JsonValue, jsonTypeOf } from './json-value.ts'
import type { StandardSchema } from './standard-schema.ts'

const verdict = (contract: AnswerContract, answer: JsonValue) => contract.check(answer).verdict

describe('string contracts', () => {
  const cases: [AnswerContract, fits: string[], outside: string[]][] = [
    [optionLabel, ['A', 'j', ' b\n', '\u00a0C'], ['', ' ', 'AB', 'A)', '1', 'É', 'Ａ', '\u212a']],
    [booleanString, ['true', 'FALSE', ' True '], ['', 'yes', 'truefalse', 'true.', 'fal\u017fe', '1']],
    [
      numericString,
      ['42', '-1,000.50', ' 7 ', '.', '1..2'],
      ['', '-', '+1', '1e5', '4 2', '٣', '42%', '--1'],
    ],
    [codeString, ['x', 'def f(): pass', '# ```'], ['', ' \n', '```python\nx\n```', '  ```\nx', '~~~\nx']],
    [freeText, ['anything'], ['', ' \t']],
  ]
  test.each(cases)('$name', (contract, fits, outside) => {
    for (const answer of fits) expect(verdict(contract, answer), JSON.stringify(answer)).toBe('fits')
    for (const answer of outside) expect(verdict(contract, answer), JSON.stringify(answer)).toBe('outside')
  })
})

describe('every benchmark contract', () => {
  test.each(Object.entries(benchmarkContracts))(
    '%s accepts its own example and describes itself in one sentence',
    (_, contract) => {
      expect(contract.types).toContain(jsonTypeOf(contract.example))
      expect(verdict(contract, contract.example)).toBe('fits')
      expect(contract.requirement).toMatch(/^The answer is .*\.$/)
    },
  )

  test('different contracts have different descriptions', () => {
    const contracts = new Set<AnswerContract>(Object.values(benchmarkContracts))
    expect(new Set([...contracts].map((one) => canonicalJson(one.description))).size).toBe(contracts.size)
  })
})

test('TAT-QA: answers are neither trimmed nor extended', () => {
  const reason = (answer: JsonValue) => {
    const found = valuesAndScale.check(answer)
    return found.verdict === 'malformed' ? found.reason : found.verdict
  }
  expect(reason({ values: ['', 'a'], scale: '' })).toBe('fits')
  expect(reason({ values: ['1'], scale: ' percent' })).toBe('bad_value')
  expect(reason({ values: ['1'], scale: 'Percent' })).toBe('bad_value')
  expect(reason(Object.create({ values: ['1'], scale: '' }))).toBe('missing_field')
})

describe("a user's schema", () => {
  const options = {
    name: 'triage',
    requirement: 'The answer is an object with "team" and "urgency" from 1 to 5.',
    example: { team: 'billing', urgency: 3 },
  }
  const triage = z.object({ team: z.enum(['billing', 'support']), urgency: z.int().min(1).max(5) })

  test('checks values and names the field', () => {
    const contract = schemaContract({ ...options, schema: triage })
    expect(contract.types).toEqual(['object'])
    expect(verdict(contract, { team: 'support', urgency: 1 })).toBe('fits')
    const found = contract.check({ team: 'support', urgency: 9 })
    expect(found).toMatchObject({ verdict: 'outside', problem: expect.stringContaining('urgency: ') })
  })

  test('has a description that changes with the schema', () => {
    const wider = z.object({ team: z.string(), urgency: z.int() })
    const [a, b, c] = [triage, triage, wider].map((schema) =>
      canonicalJson(schemaContract({ ...options, schema }).description),
    )
    expect(a).toBe(b)
    expect(a).not.toBe(c)
  })

  test('without a single top-level type accepts any type', () => {
    const either = z.union([z.string(), z.array(z.number())])
    const contract = schemaContract({ ...options, example: 'x', schema: either })
    expect(contract.types).toEqual(['string', 'number', 'boolean', 'array', 'object'])
    expect(verdict(contract, [1, 2])).toBe('fits')
    expect(verdict(contract, { a: 1 })).toBe('outside')
  })

  test('is validated when the contract is created', () => {
    expect(() =>
      schemaContract({ ...options, example: { team: 'sales', urgency: 1 }, schema: triage }),
    ).toThrow("example of answer contract 'triage' does not fit")
    const slow = z.string().refine(async () => true)
    expect(() => schemaContract({ ...options, example: 'x', schema: slow })).toThrow('does not fit')
    expect(() => schemaContract({ ...options, schema: foreign(() => ({})) })).toThrow(
      'give the contract a version',
    )
  })

  test('that throws or answers asynchronously refuses the answer', () => {
    let behaviour: () => object = () => ({})
    const contract = schemaContract({ ...options, version: '1', schema: foreign(() => behaviour()) })
    expect(verdict(contract, 'x')).toBe('fits')
    behaviour = () => {
      throw new Error('boom')
    }
    expect(contract.check('x')).toEqual({ verdict: 'outside', problem: 'the schema failed: boom' })
    behaviour = () => Promise.reject(new Error('late'))
    expect(verdict(contract, 'x')).toBe('outside')
  })
})

/** A schema from a library without JSON Schema support. */
function foreign(validate: () => object): StandardSchema {
  return { '~standard': { version: 1, vendor: 'other', validate } }
}

test('white space is trimmed as the scorers do', () => {
  for (const space of ['\u0085', '\u001c', '\u00a0', '\n']) {
    expect(optionLabel.check(`${space}A${space}`)).toEqual({ verdict: 'fits' })
  }
  expect(optionLabel.check('\ufeffA').verdict).toBe('outside')
})
