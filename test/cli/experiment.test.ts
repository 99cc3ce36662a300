import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { magicIn } from '../magic.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-cli-experiment-'))
afterAll(() => rmSync(folder, { recursive: true }))

const questions = Array.from({ length: 8 }, (_, n) =>
  JSON.stringify({ id: `q${n}`, question: `What is ${n} plus 1?`, answer: String(n + 1) }),
)
writeFileSync(join(folder, 'sums.jsonl'), questions.join('\n'))

const sizes = ['--train-size', '2', '--test-size', '3', '--set', 'hidden=8', 'maxUnits=2', 'probes=1']
const small = ['--tasks', 'sums.jsonl', '--encoder', 'lexical', ...sizes]
const magic = (...words: string[]) => magicIn(folder, ...words)
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')

/** Kills the command as soon as it prints this. */
async function killedAt(word: string, ...words: string[]): Promise<void> {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const child = spawn(process.execPath, [script, ...words, '--display', 'json'], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
    if (told.includes(word)) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal, told).toBe('SIGKILL')
}

test('an experiment killed while training and while evaluating ends with the same report', async () => {
  const words = ['experiment', 'q2', ...small]
  expect(await magic(...words, '--out', 'whole')).toMatchObject({ code: 0 })
  const slow = [...words, '--out', 'killed', '--simulated-latency', '30']
  await killedAt('training sums-23-all-group', ...slow)
  expect(existsSync(join(folder, 'killed/runs/sums-23-all-group/run.json'))).toBe(true)
  await killedAt('sums: initialisation-only', ...slow)
  expect(existsSync(join(folder, 'killed/table.json'))).toBe(false)
  const { code, stdout } = await magic(...words, '--out', 'killed')
  expect(code).toBe(0)
  expect(stdout).toContain('Simulated: no language model was called.')
  for (const file of [
    'table.json',
    'report.md',
    'report.csv',
    'report.tex',
    'report.html',
    'experiment.json',
  ])
    expect(read('killed', file), file).toBe(read('whole', file))
})

test('prints a plan before starting', async () => {
  const { code, stdout, stderr } = await magic('experiment', 'q2', ...small, '--dry-run', '--json')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const { steps, total } = JSON.parse(stdout)
  expect(steps).toHaveLength(9)
  // Untrained, but still used.
  const untrained = steps.find(({ label }: { label: string }) => label.includes('initialisation-only'))
  expect(untrained).toMatchObject({ updates: 0, executions: 3 })
  expect(untrained.calls).toBeGreaterThan(0)
  expect(total).toMatchObject({ updates: 8, executions: 15 })
  expect(existsSync(join(folder, 'experiments'))).toBe(false)
})

test('D2 needs no model, D3 only a file; options of other experiments are refused', async () => {
  const bound = await magic('experiment', 'd2', '--json', '--out', 'd2')
  expect(JSON.parse(bound.stdout).tables[0].rows).toHaveLength(9)
  const trajectories = 'whole/runs/sums-23-full/trajectories.jsonl'
  const credit = await magic('experiment', 'd3', '--from', trajectories, '--json', '--out', 'd3')
  expect(JSON.parse(credit.stdout).tables[0].rows[0][0].text).toContain('trajectories.jsonl')
  for (const [words, reason] of [
    [['q2', '--from', trajectories], '--from is only for d2, d3, q4, not for q2'],
    [['d1', '--seeds', '3'], 'd1 runs with one seed'],
    [['sweep', '--penalise', 'both', '--penalties', '1e-5'], 'Choose one with --penalise'],
  ] as const) {
    const { code, stderr } = await magic('experiment', ...words)
    expect(stderr).toContain(reason)
    expect(code).toBe(2)
  }
})
