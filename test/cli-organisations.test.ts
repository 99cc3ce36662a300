import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { organisations } from '../src/organisations/list.ts'
import { magicWith } from './magic.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-organisations-'))
const magic = (...words: string[]) => magicWith({ MAGIC_RUNS_DIR: runs }, ...words)
afterAll(() => rmSync(runs, { recursive: true, force: true }))
const timeout = 600_000

test('magic organisations lists every system with its fidelity', { timeout }, async () => {
  const { code, stdout } = await magic('organisations')
  expect(code).toBe(0)
  for (const { name, category, fidelity } of organisations) {
    expect(stdout).toContain(`  ${name}  (${category}; `)
    expect(stdout).toContain(fidelity)
  }
})

test('tasks instead of a run: evaluated, continued, disturbed, compared and verified', {
  timeout,
}, async () => {
  const tasks = ['eval', 'synthetic', '--train-size', '4', '--test-size', '6']
  const list = ['--organisation', 'direct,llm-debate:agents=2,dylan']
  const capped = await magic(...tasks, ...list, '--max-calls', '12', '--json')
  expect(capped.code).toBe(3)
  const { code, stdout } = await magic(...tasks, ...list, '--json')
  expect(code).toBe(0)
  const { run, evaluations } = JSON.parse(stdout)
  expect(run).toBe('synthetic-organisations')
  expect(evaluations).toMatchObject([
    { organisation: 'direct', fidelity: 'paper', n: 6, complete: true, calls: 1 },
    { organisation: 'llm-debate:agents=2', fidelity: 'released code', n: 6, calls: 4 },
    { organisation: 'dylan', n: 6, complete: true },
  ])
  const failing = await magic(...tasks, '--organisation', 'dylan', '--fail-worker', '50%', '--json')
  expect(JSON.parse(failing.stdout).evaluations).toMatchObject([
    { organisation: 'dylan, 0.5 of workers failing' },
  ])
  const compared = await magic('compare', run)
  expect(compared.stdout).toMatch(/llm-debate:agents=2 +released code/)
  expect(await magic('verify', run)).toMatchObject({ code: 0 })
  const other = await magic('eval', 'synthetic', '--test-size', '7', '--organisation', 'direct')
  expect(other.stderr).toContain('Choose another --name')
})

test('at matched tokens', { timeout }, async () => {
  const words = ['eval', 'synthetic', '--train-size', '4', '--test-size', '6', '--name', 'matched']
  const { code, stdout } = await magic(
    ...words,
    '--organisation',
    'llm-debate:rounds=1',
    '--matched',
    '--json',
  )
  expect(code).toBe(0)
  const { matched, evaluations } = JSON.parse(stdout)
  const [debate, ...votes] = evaluations as { organisation: string; tokens: { total: number } }[]
  expect(votes.map(({ organisation }) => organisation).slice(0, 2)).toEqual([
    'self-consistency:answers=1',
    'self-consistency:answers=3',
  ])
  expect(votes.at(-1)!.tokens.total).toBeGreaterThan(debate!.tokens.total)
  expect(matched).toHaveLength(1)
  expect(matched[0].within.tokens).toBeLessThanOrEqual(debate!.tokens.total)
  expect(matched[0].above.tokens).toBeGreaterThan(debate!.tokens.total)
})
