import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { GrowingLines } from './growing-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-growing-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('reads new complete lines, and starts over if the file was truncated', () => {
  const path = join(folder, 'lines.jsonl')
  const lines = new GrowingLines(path)
  expect(lines.read()).toEqual({ records: [], restarted: false })
  writeFileSync(path, '{"n":1}\n{"n":2}\n{"n"')
  expect(lines.read()).toEqual({ records: [{ n: 1 }, { n: 2 }], restarted: false })
  appendFileSync(path, ':3}\n')
  expect(lines.read()).toEqual({ records: [{ n: 3 }], restarted: false })
  expect(lines.read()).toEqual({ records: [], restarted: false })
  truncateSync(path, 8)
  expect(lines.read()).toEqual({ records: [{ n: 1 }], restarted: true })
  truncateSync(path, 0)
  appendFileSync(path, '{"longer":"than what was there before"}\n')
  expect(lines.read()).toEqual({ records: [{ longer: 'than what was there before' }], restarted: true })
})

test('a damaged line names its file', () => {
  const path = join(folder, 'damaged.jsonl')
  writeFileSync(path, '{"n":1}\nnot json\n{"n":2}\n')
  expect(() => new GrowingLines(path).read()).toThrow(
    `${path} has a damaged line. Restore the file from a copy.`,
  )
})
