import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldName, findJsonFault, hasRepeatedKey } from './json-fault.ts'

const found = (json: string) => {
  JSON.parse(json)
  const fault = findJsonFault(json)
  return fault && { line: fault.line, field: fieldName(fault.path), kind: fault.kind }
}

test('serialised JSON has no fault, however nested or escaped', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'grapheme', maxDepth: 6 }), fc.nat({ max: 3 }), (json, indent) => {
      expect(found(JSON.stringify(JSON.parse(json), null, indent))).toBeUndefined()
    }),
  )
  expect(
    found('{"a": "\\"a\\": 1, \\\\", "b": {"a": [{"a": 1}, {"a": "a"}]}, "c": "\\ud83d\\ude00"}'),
  ).toBeUndefined()
})

describe('a duplicate key is found with its line and path', () => {
  test.each([
    ['{"a": 1, "a": 1}', 1, 'a'],
    ['{"a": 1,\n "b": {"c": "}",\n "\\u0063" : 2}}', 3, 'b.c'],
    ['[1, [2, {"x": [","], "y": 0}], {"x": [], "x": 1}]', 1, '[2].x'],
    ['{"rows": [{"k": "v"}, {"": 1, "": 2}]}', 1, 'rows[1].'],
    ['{"__proto__": 1, "__proto__": 2}', 1, '__proto__'],
  ])('%s', (json, line, field) => {
    expect(found(json)).toEqual({ line, field, kind: 'repeated' })
  })
})

test('the fast count of keys agrees with the exact check', () => {
  const key = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"0"', '"a\\":"', '"\\\\"')
  const space = fc.constantFrom('', ' ', '\n\t')
  const leaf = fc.constantFrom('1', 'null', '"a"', '"b: c"', '"\\"a\\": 1"', '":"', '[]', '{}')
  const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((parts) => `[${parts.join(',')}]`),
    ),
    object: fc
      .array(fc.tuple(key, space, tie('value')), { maxLength: 3 })
      .map((fields) => `{${fields.map(([name, gap, part]) => `${name}${gap}:${gap}${part}`).join(',')}}`),
  }))
  fc.assert(
    fc.property(value, (json) => {
      const isFound = findJsonFault(json, 'repeated') !== undefined
      expect(hasRepeatedKey(json, JSON.parse(json))).toBe(isFound)
    }),
    { numRuns: 5000 },
  )
})

describe('a lone surrogate is found in texts and keys', () => {
  test.each([
    ['{"id": "a\\ud800b"}', 'id'],
    ['{"wrong": ["x", "\\udc00\\ud800"]}', 'wrong[1]'],
    ['{"metadata": {"\\ud83d": "x"}}', 'metadata.\ufffd'],
    ['"\\ud800"', ''],
  ])('%s', (json, field) => {
    expect(found(json)).toEqual({ line: 1, field, kind: 'half a character' })
  })
})

test('handles any depth and length', () => {
  expect(findJsonFault(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toBeUndefined()
  expect(findJsonFault(JSON.stringify(['\\"'.repeat(500_000)]))).toBeUndefined()
})
