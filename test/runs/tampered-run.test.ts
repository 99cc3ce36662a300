import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { magic } from '../magic.ts'

// A run edited behind its back: no resume continues from it silently, and verify reports it.
const runs = mkdtempSync(join(tmpdir(), 'magic-tampered-'))
const questions = join(runs, 'questions.jsonl')
const rows = Array.from({ length: 10 }, (_, index) => ({
  question: `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`,
  answer: String((index + 2) * (index + 5)),
}))
writeFileSync(questions, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))

beforeAll(async () => {
  const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2']
  const words = ['train', questions, ...small, '--updates', '3', '--runs-dir', runs]
  expect((await magic(...words, '--name', 'half', '--max-calls', '5')).code).toBe(3)
  expect((await magic(...words, '--name', 'whole')).code).toBe(0)
})
afterAll(() => rmSync(runs, { recursive: true, force: true }))

let count = 0
function copyOf(name: string): string {
  const copy = `${name}-${++count}`
  cpSync(join(runs, name), join(runs, copy), { recursive: true })
  return copy
}

interface Edited {
  updates: number
  readonly training: Record<string, number>
}

function editRecord(run: string, change: (record: Edited) => void): void {
  const file = join(runs, run, 'run.json')
  const record = JSON.parse(readFileSync(file, 'utf8'))
  change(record)
  writeFileSync(file, JSON.stringify(record, null, 2))
}

async function refused(run: string, reason: string): Promise<void> {
  const resumed = await magic('resume', run, '--runs-dir', runs, '--max-calls', '100000')
  expect(resumed.stderr).toContain(reason)
  expect(resumed.stderr).toContain('Restore them.')
  expect(resumed.stderr).not.toContain('    at ')
  expect(resumed.code).toBe(2)
  const verified = await magic('verify', run, '--runs-dir', runs)
  expect(verified.stdout).toContain(`✗ settings and history: ${reason}`)
  expect(verified.code).toBe(1)
}

test.each([
  ['half', 'seed'],
  ['half', 'learningRate'],
  ['whole', 'seed'],
])('the %s run with another %s is refused by name', async (name, field) => {
  const run = copyOf(name)
  editRecord(run, (record) => {
    record.training[field]! += 1
  })
  await refused(run, `run.json: training.${field} was `)
})

test.each([
  ['half', 9],
  ['half', 1],
  ['whole', 4],
])('the %s run with another number of updates, %i, is refused by name', async (name, updates) => {
  const run = copyOf(name)
  editRecord(run, (record) => {
    record.updates = updates
    record.training['updates'] = updates
  })
  await refused(run, `run.json: training.updates was 3 and is ${updates}`)
})

test.each([
  ['half', 'events.jsonl'],
  ['half', 'membership.json'],
  ['whole', 'calls.jsonl'],
])('the %s run without %s is refused; restoring it fixes the run', async (name, file) => {
  const run = copyOf(name)
  rmSync(join(runs, run, file))
  await refused(run, `${file} is missing`)
  cpSync(join(runs, name, file), join(runs, run, file))
  expect((await magic('resume', run, '--runs-dir', runs, '--max-calls', '100000')).code).toBe(0)
  expect((await magic('verify', run, '--runs-dir', runs)).code).toBe(0)
})
