import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FileLockError, withFileLock } from './file-lock.ts'

const newLock = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'deep', 'a.lock')

test('holders take turns, and a failure releases the lock', async () => {
  const lock = newLock()
  let inside = 0
  let most = 0
  const work = async () => {
    inside += 1
    most = Math.max(most, inside)
    await setTimeout(5)
    inside -= 1
  }
  await expect(withFileLock(lock, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await Promise.all(Array.from({ length: 5 }, () => withFileLock(lock, work)))
  expect(most).toBe(1)
})

test('waiting can be cancelled', async () => {
  const lock = newLock()
  await withFileLock(lock, async () => {
    await expect(withFileLock(lock, async () => {}, AbortSignal.abort())).rejects.toThrow(/abort/i)
  })
})

test('a killed holder releases the lock', async () => {
  const lock = newLock()
  const module = JSON.stringify(new URL('./file-lock.ts', import.meta.url).href)
  const script = `const { withFileLock } = await import(${module})
    await withFileLock(${JSON.stringify(lock)}, () => new Promise(() => { console.log('held'); setInterval(() => {}, 1e6) }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await expect(withFileLock(lock, async () => {}, AbortSignal.abort())).rejects.toThrow(/abort/i)
  child.kill('SIGKILL')
  expect(await withFileLock(lock, async () => 'mine')).toBe('mine')
})

test('an unlockable path is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'))
  await expect(withFileLock(folder, async () => {})).rejects.toThrow(FileLockError)
  await expect(withFileLock(folder, async () => {})).rejects.toThrow(`${folder} cannot be locked`)
})
