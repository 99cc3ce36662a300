import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { DataError } from './data-error.ts'
import { JsonNumber, readRecords } from './records.ts'

const folder = mkdtempSync(join(tmpdir(), 'records-'))
const schema = z.object({ name: z.string(), list: z.array(z.object({ answer: z.unknown() })).optional() })

function fileOf(content: string): string {
  const path = join(folder, 'data')
  writeFileSync(path, content)
  return path
}

async function failureOf(reading: Promise<unknown>): Promise<DataError> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof DataError)) throw new Error('no DataError', { cause: error })
  return error
}

test('JSON Lines: rows are lines, indices count records', async () => {
  const seen: unknown[] = []
  await readRecords(fileOf('{"name": "a"}\n\n{"name": "b", "more": 1}\n'), schema, (record, { row, index }) =>
    seen.push([record, row, index]),
  )
  expect(seen).toEqual([
    [{ name: 'a' }, 1, 0],
    [{ name: 'b' }, 3, 1],
  ])
})

test('a mismatch names file, row and field', async () => {
  const wrong = await failureOf(readRecords(fileOf('{"name": "a"}\n{"name": 7}'), schema, () => {}))
  expect([wrong.file, wrong.row, wrong.field]).toEqual([join(folder, 'data'), 2, 'name'])
  expect(wrong.message).toMatch(/data, row 2, field name: .*expected string/)
  const nested = await failureOf(
    readRecords(fileOf('[{"name": "a", "list": [{"answer": 1}, 3]}]'), schema, () => {}, { isArray: true }),
  )
  expect([nested.row, nested.field]).toEqual([1, 'list[1]'])
})

test('truncated and foreign files are refused', async () => {
  expect((await failureOf(readRecords(fileOf('{"name": "a"}\n{"na'), schema, () => {}))).message).toMatch(
    /row 2: is not valid JSON .*truncated/,
  )
  expect(
    (await failureOf(readRecords(fileOf('[{"name": "a"},'), schema, () => {}, { isArray: true }))).message,
  ).toMatch(/truncated/)
  expect(
    (await failureOf(readRecords(fileOf('{"name": "a"}'), schema, () => {}, { isArray: true }))).message,
  ).toMatch(/JSON array/)
})

test('a syntax error names its column in the row, or its line and column in the file', async () => {
  const inRow = await failureOf(readRecords(fileOf('{"name": "a"}\n{"name": "b" 1}\n'), schema, () => {}))
  expect(inRow.message).toMatch(/row 2: is not valid JSON \(Expected ',' or '}' .*, column 14\)\.$/)
  const whole = fileOf('[{"name": "a"},\n {"name": "b" 1}]\n')
  const inFile = await failureOf(readRecords(whole, schema, () => {}, { isArray: true }))
  expect(inFile.message).toMatch(/: is not valid JSON \(Expected ',' or '}' .*, line 2, column 15\)\.$/)
})

test('numbers under a chosen key keep their text', async () => {
  const seen: unknown[] = []
  const content = '[{"name": "a", "list": [{"answer": 2.0}, {"answer": "2.0"}]}]'
  await readRecords(fileOf(content), schema, (record) => seen.push(record.list), {
    exactNumbers: 'answer',
    isArray: true,
  })
  expect(seen).toEqual([[{ answer: new JsonNumber('2.0') }, { answer: '2.0' }]])
})

test('a key __proto__ is data and changes no prototype', async () => {
  const seen: object[] = []
  await readRecords(fileOf('{"name": "a", "__proto__": {"polluted": true}}'), schema, (record) =>
    seen.push(record),
  )
  expect(seen).toEqual([{ name: 'a' }])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect((seen[0] as { polluted?: boolean }).polluted).toBe(undefined)
})
