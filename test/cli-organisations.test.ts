import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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

test('`magic eval TASKS` evaluates, continues, disturbs, compares and verifies without a run', {
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

test('evaluates at matched tokens', { timeout }, async () => {
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

test('magic organisations NAME shows source, differences and options', { timeout }, async () => {
  const { stdout } = await magic('organisations', 'dylan')
  expect(stdout).toContain('SALT-NLP/DyLAN')
  expect(stdout).toContain('Differences from the source')
  expect(stdout).toMatch(/rounds=3 +maximum number of layers/)
  expect((await magic('organisations', 'searched')).stdout).toContain(
    'The best fixed graph found by a search',
  )
  expect((await magic('organisations', 'dilan')).stderr).toContain("There is no organisation 'dilan'")
})

interface Recorded {
  readonly task: string
  readonly graph: { readonly units: readonly { readonly role: string; readonly predecessors: number[] }[] }
  readonly failures: readonly { readonly reason?: string }[]
}

test('interventions change only what they say', { timeout }, async () => {
  const words = ['eval', 'synthetic', '--train-size', '4', '--test-size', '6', '--name', 'disturbed']
  const evaluated = async (...more: string[]) => {
    const { code, stdout, stderr } = await magic(
      ...[...words, '--organisation', 'random-topology:units=6', '--json', ...more],
    )
    expect(code, stderr).toBe(0)
    const [{ organisation, folder }] = JSON.parse(stdout).evaluations as [
      { organisation: string; folder: string },
    ]
    const lines = readFileSync(join(folder, 'records.jsonl'), 'utf8').trim().split('\n')
    const records = lines.map((line) => JSON.parse(line) as Recorded)
    return { organisation, records: records.sort((a, b) => (a.task < b.task ? -1 : 1)) }
  }
  const degreesOf = ({ graph: { units } }: Recorded) => ({
    heard: units.map(({ predecessors }) => predecessors.length),
    listeners: units.map((_, unit) => units.filter(({ predecessors }) => predecessors.includes(unit)).length),
  })
  const plain = await evaluated()
  const rewired = await evaluated('--rewire')
  expect(rewired.organisation).toBe('random-topology:units=6, rewired')
  expect(rewired.records.map(degreesOf)).toEqual(plain.records.map(degreesOf))
  expect(rewired.records.map(({ graph }) => graph)).not.toEqual(plain.records.map(({ graph }) => graph))

  const role = plain.records[0]!.graph.units[1]!.role
  const dropped = await evaluated('--drop-role', role)
  expect(dropped.organisation).toBe(`random-topology:units=6, without ${role}`)
  for (const [at, { graph }] of dropped.records.entries()) {
    const before = plain.records[at]!.graph.units.filter((unit) => unit.role !== role)
    expect(graph.units.map((unit) => unit.role)).toEqual(before.map((unit) => unit.role))
  }

  const corrupted = await evaluated('--corrupt-message', '1')
  expect(corrupted.records.map(({ graph }) => graph)).toEqual(plain.records.map(({ graph }) => graph))
  expect(corrupted.records.every(({ failures }) => failures.length === 0)).toBe(true)

  const failing = await evaluated('--fail-worker', '100%')
  for (const { graph, failures } of failing.records) {
    expect(failures).toHaveLength(graph.units.length)
    expect(failures.every(({ reason }) => reason === failures[0]!.reason)).toBe(true)
  }
  const refused = await magic(...words, '--organisation', 'dylan', '--rewire')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('no edges to rewire')
  expect((await magic(...words, '--drop-role', 'nobody')).stderr).toContain("there is no role 'nobody'")
})

test('a dry run estimates and stores nothing', { timeout }, async () => {
  const words = ['synthetic', '--train-size', '4', '--test-size', '30', '--dry-run']
  const list = ['--organisation', 'direct,llm-debate:agents=2', '--name', 'planned']
  const plan = await magic('eval', ...words, ...list, '--model', 'deepseek', '--json')
  expect(plan.code, plan.stderr).toBe(0)
  const { questions, sampled, organisations: rows, total } = JSON.parse(plan.stdout)
  expect({ questions, sampled }).toEqual({ questions: 30, sampled: 10 })
  expect(rows).toMatchObject([{ organisation: 'direct', calls: 30 }, { organisation: 'llm-debate:agents=2' }])
  // Two agents over two rounds, plus a summarizer if programs differ.
  expect(rows[1].calls).toBeGreaterThanOrEqual(120)
  expect(total.calls).toBe(30 + rows[1].calls)
  expect(total.cost.currency).toBe('CNY')
  expect((await magic('show', 'planned')).code).not.toBe(0)
  const needsRun = await magic('eval', ...words, '--organisation', 'trained')
  expect(needsRun.stderr).toContain("'trained' needs a run")
})

test('a dry run on a run estimates its searched graph', { timeout }, async () => {
  const small = ['--train-size', '6', '--test-size', '4', '--name', 'priced', '--encoder', 'lexical']
  const fast = ['--method', 'paper', '--updates', '3', '--trajectories', '4']
  const trained = await magic('train', 'synthetic', ...small, ...fast, '--json')
  expect(trained.code, trained.stderr).toBe(0)
  const plan = await magic('eval', 'priced', '--organisation', 'trained,searched', '--dry-run', '--json')
  expect(plan.code, plan.stderr).toBe(0)
  const { organisations: rows } = JSON.parse(plan.stdout)
  expect(rows.map(({ organisation }: { organisation: string }) => organisation)).toEqual([
    'trained',
    'searched, its search at most',
    'searched',
  ])
  const done = await magic('eval', 'priced', '--organisation', 'searched', '--json')
  const { spent } = JSON.parse(done.stdout).evaluations[0].search
  expect(spent.calls).toBeGreaterThan(0)
  expect(rows[1].calls).toBeGreaterThanOrEqual(spent.calls)
})

test('a JUnit file without a folder is refused before anything is spent', { timeout }, async () => {
  const file = join(runs, 'none', 'j.xml')
  const refused = await magic(
    'eval',
    'synthetic',
    '--organisation',
    'direct',
    '--name',
    'junit',
    '--junit',
    file,
  )
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(`there is no folder ${join(runs, 'none')}. Create it first.`)
  expect((await magic('show', 'junit')).code).not.toBe(0)
})
