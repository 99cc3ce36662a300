import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ConfigurationError } from '../configuration/configuration-error.ts'
import { NonFiniteError } from '../learning/finite.ts'
import { ModelRefusedError, ModelUnreachableError } from '../models/stop-error.ts'
import { CheckpointError, CheckpointWriteError } from '../store/checkpoint.ts'
import { DiskError } from '../store/disk-error.ts'
import { damaged, explainFailure } from '../store/ledger/sqlite-failure.ts'
import { RunError } from '../store/run-folder.ts'
import { RunLock, RunLockedError } from '../store/run-lock.ts'
import { DataError } from '../tasks/sources/data-error.ts'
import { TaskSetError } from '../tasks/task-set.ts'
import { explain, UsageError } from './problem.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-problem-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
  code: 'ENOSPC',
  syscall: 'write',
})
const nonFinite = new NonFiniteError('gradient of head.weight', Number.NaN)

test.each([
  [new UsageError('x'), 2],
  [new ConfigurationError('magic.config.ts', ['x']), 2],
  [new DataError('is odd.', { file: 'a.jsonl', row: 3 }), 2],
  [new TaskSetError('x'), 2],
  [new RunError('x'), 2],
  [new CheckpointError('folder', 'x'), 2],
  [damaged('ledger.sqlite', 'x'), 2],
  [new RunLockedError('runs/a', undefined), 1],
  [new ModelUnreachableError('It is gone'), 7],
  [nonFinite, 1],
  [new RunError('Update 3 was not applied.', { cause: nonFinite }), 1],
  [new ModelRefusedError('unauthorized', 'No such key'), 5],
  [explainFailure({ errcode: 13 }, 'ledger.sqlite', 4096) as Error, 6],
  [new CheckpointWriteError('folder', new Map(), full), 6],
  [new DiskError('events.jsonl', 12, full), 6],
])('%s exits with %d and no stack trace', (error, code) => {
  expect(explain(error)).toEqual({ message: error.message, code })
})

test('an unexpected error keeps its stack trace', () => {
  const { message, code } = explain(new TypeError('x is not a function'))
  expect(message).toContain('    at ')
  expect(code).toBe(1)
})

test('an unusable path is named with the problem and the fix', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const error = await mkdir(join(file, 'inside')).catch((reason) => reason)
  expect(explain(error)).toEqual({
    message: `Cannot create the folder ${join(file, 'inside')}: part of the path is a file, not a folder (ENOTDIR). Choose another folder, then try again.`,
    code: 6,
  })
})

test('a full disk is reported even when the system names no path', async () => {
  const device = await open('/dev/full', 'w')
  const error = await device.write('x').catch((reason) => reason)
  await device.close()
  expect(explain(error).code).toBe(6)
  expect(explain(error).message).toContain('disk is full')
})

test('a lock that cannot be written is reported as a disk problem', async () => {
  const error = await RunLock.acquire(join(folder, 'none')).catch((reason) => reason)
  expect(explain(error).code).toBe(6)
  expect(explain(error).message).toContain('lock.sqlite')
})
