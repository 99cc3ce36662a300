import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DiskError } from './disk-error.ts'
import { LineFile, readLines, writeWhole } from './durable-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-durable-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const fresh = () => join(folder, `file-${++count}`)

test('a text is written whole, and nothing else', () => {
  const path = fresh()
  writeWhole(path, 'one')
  writeWhole(path, 'two, é')
  expect(readFileSync(path, 'utf8')).toBe('two, é')
  expect(existsSync(`${path}.unfinished`)).toBe(false)
})

test('a failed write reports path and size, and leaves the old file', () => {
  // The folder cannot exist: its parent is a file.
  const path = fresh()
  writeWhole(path, 'kept')
  expect(() => writeWhole(join(path, 'inner'), 'four')).toThrow(DiskError)
  expect(() => writeWhole(join(path, 'inner'), 'four')).toThrow(
    /inner could not be written \(ENOTDIR; 4 bytes/,
  )
  expect(readFileSync(path, 'utf8')).toBe('kept')
})

test('a missing folder is to be created', () => {
  const path = join(fresh(), 'none.csv')
  expect(() => writeWhole(path, 'four')).toThrow(/ENOENT; 4 bytes to write\)\. Create its folder and repeat/)
})

test('a full disk is reported with its remedy, and the file is unchanged', () => {
  const path = fresh()
  writeWhole(path, 'kept')
  // Writing to this device fails with ENOSPC, like a full disk.
  symlinkSync('/dev/full', `${path}.unfinished`)
  expect(() => writeWhole(path, 'lost')).toThrow(
    `${path} could not be written (ENOSPC; 4 bytes to write). Free some disk space and resume; what was there before is intact.`,
  )
  expect(readFileSync(path, 'utf8')).toBe('kept')
})

test('lines come back in order', () => {
  const path = fresh()
  const lines = new LineFile(path)
  lines.append({ update: 0, text: 'a\nb' })
  lines.append({ update: 1 })
  lines.close()
  expect(readLines(path)).toEqual([{ update: 0, text: 'a\nb' }, { update: 1 }])
})

test('a torn line is not read and is cut off by the next writer, wherever the kill came', () => {
  const whole = `${JSON.stringify({ update: 0, text: 'é' })}\n`
  const bytes = Buffer.from(`${JSON.stringify({ update: 1, text: 'é😀' })}\n`)
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const path = fresh()
    writeFileSync(path, Buffer.concat([Buffer.from(whole), bytes.subarray(0, cut)]))
    expect(readLines(path)).toHaveLength(1)
    const lines = new LineFile(path)
    lines.append({ update: 1 })
    lines.close()
    expect(readFileSync(path, 'utf8')).toBe(`${whole}{"update":1}\n`)
  }
})

test('stale lines are cut off from the first one on', () => {
  const path = fresh()
  writeFileSync(path, '{"update":0}\n{"update":1}\n{"update":2}\n{"upd')
  const lines = new LineFile(path, (line) => (line as { update: number }).update >= 1)
  lines.append({ update: 1, again: true })
  lines.close()
  expect(readLines(path)).toEqual([{ update: 0 }, { update: 1, again: true }])
})

test('trailing zeros from a power loss are not a line', () => {
  const path = fresh()
  writeFileSync(path, '{"update":0}\n')
  appendFileSync(path, '\0\0\0\n')
  expect(readLines(path)).toEqual([{ update: 0 }])
})

test('a damaged line in the middle is an error and does not cut off what follows', () => {
  const path = fresh()
  const text = '{"update":0}\n{"update" 1}\n{"update":2}\n'
  writeFileSync(path, text)
  expect(() => readLines(path)).toThrow('is damaged')
  expect(() => new LineFile(path)).toThrow(/^Line 2 of .* is damaged/)
  expect(readFileSync(path, 'utf8')).toBe(text)
})
