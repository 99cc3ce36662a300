import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readGraphFile, readTaskFile } from './input-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'input-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(content: string): string {
  const path = join(folder, 'input.json')
  writeFileSync(path, content)
  return path
}

test('a field twice is refused with its line', () => {
  expect(() => readTaskFile(file('{"question": "a?",\n "question": "b?"}'))).toThrow(
    /The task file .*input\.json cannot be used: line 2, question: stands twice in the same object\. Remove one/,
  )
  const unit = '{"role": "a", "realization": "atomic", "predecessors": [], "predecessors": [0]}'
  expect(() => readGraphFile(file(`{"units": [\n${unit}]}`))).toThrow(
    /line 2, units\[0\]\.predecessors: stands twice/,
  )
})

test('half a surrogate pair is refused', () => {
  expect(() => readTaskFile(file('{"id": "\\ud800", "question": "a?"}'))).toThrow(
    /line 1, id: holds half of a surrogate pair/,
  )
})

test('a pipe that nobody writes into is refused at once', () => {
  const path = join(folder, 'pipe.json')
  execFileSync('mkfifo', [path])
  expect(() => readTaskFile(path)).toThrow('it is no regular file. Give one with the JSON in it.')
})
