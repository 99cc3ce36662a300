import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { readGraphFile, readTaskFile } from './input-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'input-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(content: string): string {
  const path = join(folder, 'input.json')
  writeFileSync(path, content)
  return path
}

test('a duplicate field is refused with its line', async () => {
  await expect(readTaskFile(file('{"question": "a?",\n "question": "b?"}'))).rejects.toThrow(
    /input\.json, row 2, field question: occurs twice in the same object\. Remove one/,
  )
  const unit = '{"role": "a", "realization": "atomic", "predecessors": [], "predecessors": [0]}'
  await expect(readGraphFile(file(`{"units": [\n${unit}]}`), paperLibrary)).rejects.toThrow(
    /row 2, field units\[0\]\.predecessors: occurs twice/,
  )
})

test('a lone surrogate is refused', async () => {
  await expect(readTaskFile(file('{"id": "\\ud800", "question": "a?"}'))).rejects.toThrow(
    /row 1, field id: contains half of a surrogate pair/,
  )
})

test('a pipe without a writer is refused at once', async () => {
  const path = join(folder, 'pipe.json')
  execFileSync('mkfifo', [path])
  await expect(readTaskFile(path)).rejects.toThrow('is not a regular file. Give the path of one.')
})
