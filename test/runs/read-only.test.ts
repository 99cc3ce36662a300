import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { magic, magicProcess } from '../magic.ts'

// A run on a read-only disk. Permissions do not bind root, so the folder is mounted read-only.
const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0
const work = mkdtempSync(join(tmpdir(), 'magic-read-only-'))
const runs = join(work, 'runs')
const temporary = mkdtempSync(join(tmpdir(), 'magic-read-only-temporary-'))
const ledgerFiles = (run: string) =>
  readdirSync(join(runs, run)).filter((name) => name.startsWith('ledger.sqlite'))

/** Runs the command where nothing below `work` is writable. */
function magicReadOnly(...words: string[]) {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const mounts = ['--dev-bind', '/', '/', '--ro-bind', work, work, '--chdir', work]
  const command = [...mounts, process.execPath, script, ...words, '--runs-dir', runs]
  const env = { ...process.env, NO_COLOR: '1', TMPDIR: temporary }
  const { status, stdout, stderr } = spawnSync('bwrap', command, { encoding: 'utf8', env })
  return { code: status, stdout, stderr }
}

beforeAll(async () => {
  const rows = Array.from({ length: 10 }, (_, index) => ({
    question: `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`,
    answer: String((index + 2) * (index + 5)),
  }))
  const questions = join(work, 'questions.jsonl')
  writeFileSync(questions, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2']
  const words = ['train', questions, ...small, '--updates', '2', '--runs-dir', runs, '--name']
  expect((await magic(...words, 'whole')).code).toBe(0)
  const evaluation = ['eval', 'whole', '--runs-dir', runs, '--organisation', 'trained,direct']
  expect((await magic(...evaluation)).code).toBe(0)
  await magicProcess({ env: { MAGIC_FAIL: 'after:events:2' } }, ...words, 'killed')
})
afterAll(() => {
  for (const folder of [work, temporary]) rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!hasBubblewrap && process.env.CI !== 'true')('on a read-only disk', () => {
  test('the folder really is read-only', () => {
    const { code, stderr } = magicReadOnly('resume', 'killed')
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(6)
  })

  test.each([['verify', 'whole'], ['show', 'whole'], ['show'], ['compare', 'whole']])('%s %s', (...words) => {
    expect(ledgerFiles('whole')).toEqual(['ledger.sqlite'])
    const { code, stdout, stderr } = magicReadOnly(...words.filter((word) => word !== undefined))
    expect(stderr).toBe('')
    expect(stdout).toContain(words[0] === 'compare' ? 'trained' : 'whole')
    expect(code).toBe(0)
  })

  test('a write-ahead log left by a kill is read, with and without its index', () => {
    expect(ledgerFiles('killed')).toEqual(['ledger.sqlite', 'ledger.sqlite-shm', 'ledger.sqlite-wal'])
    cpSync(join(runs, 'killed'), join(runs, 'copied'), { recursive: true })
    rmSync(join(runs, 'copied', 'ledger.sqlite-shm'))
    const counts = ['killed', 'copied'].map((name) => {
      const { code, stdout } = magicReadOnly('verify', name)
      expect(code).toBe(0)
      return /scores in the ledger: (\d+)/.exec(stdout)![1]
    })
    expect(Number(counts[0])).toBeGreaterThan(0)
    expect(counts[1]).toBe(counts[0])
    // The temporary copy it was read from is gone.
    expect(readdirSync(temporary).filter((name) => name.startsWith('magic-'))).toEqual([])
    expect(existsSync(join(runs, 'copied', 'ledger.sqlite-shm'))).toBe(false)
  })
})
