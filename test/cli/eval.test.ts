import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJob } from '../../src/cli/job.ts'
import { openTasks } from '../../src/cli/options/task-options.ts'
import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { train } from '../../src/training/train.ts'
import { magicWith } from '../magic.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-eval-'))
const magic = (...words: string[]) => magicWith({ MAGIC_RUNS_DIR: runs }, ...words)
const tasks = { tasks: 'synthetic', trainSize: 8, testSize: 10 }

beforeAll(async () => {
  await using job = await openJob(tasks, {}, () => {})
  const { set, model, sandbox, source } = job
  await train({
    ...{ set, model, sandbox, source, encoder: lexicalEncoder },
    folder: join(runs, 'small'),
    settings: { hidden: 16, updates: 3, probes: 2 },
  })
}, 600_000)
afterAll(() => rmSync(runs, { recursive: true, force: true }))

const seconds = 600_000

/** The same run under another name, with a changed record. */
function copyOfSmall(name: string, facts: object): void {
  cpSync(join(runs, 'small'), join(runs, name), { recursive: true })
  const record = join(runs, name, 'run.json')
  const run = JSON.parse(readFileSync(record, 'utf8'))
  writeFileSync(record, JSON.stringify({ ...run, name, ...facts }))
}

describe('magic eval', { timeout: seconds }, () => {
  test('scores organisations side by side and keeps their records', async () => {
    const words = ['eval', 'small', '--organisation', 'trained,untrained', '--organisation', 'direct']
    const { code, stdout, stderr } = await magic(...words)
    expect(stderr).toContain('trained (simulated): done, 10/10')
    expect(code).toBe(0)
    expect(stdout).toMatch(/organisation +fidelity +accuracy \[95 %\] +n +tokens\/q +calls\/q +cost$/m)
    for (const name of ['trained', 'untrained', 'direct'])
      expect(stdout).toMatch(new RegExp(`^${name} +(?:paper +)?\\d+\\.\\d % \\[.*\\] +10 .* free$`, 'm'))
    expect(stdout).toContain('The scores are simulated')
    expect(stdout).toMatch(/10 questions can show a difference of \d+\.\d percentage points or more\./)
    expect(stdout).not.toContain('\u001b')
    expect(stderr).toContain(join(runs, 'small', 'evaluations'))
    const records = readFileSync(join(runs, 'small/evaluations/test-trained/records.jsonl'), 'utf8')
    expect(records.trim().split('\n')).toHaveLength(10)
  })

  test('restricts the trained policy, and prints everything as JSON', async () => {
    const { code, stdout } = await magic(
      ...['eval', 'small', '--organisation', 'atomic-at-use', 'group-at-use', '--limit', '4', '--json'],
    )
    expect(code).toBe(0)
    const { evaluations, simulated, metric, ended } = JSON.parse(stdout)
    expect({ simulated, metric, ended }).toEqual({ simulated: true, metric: 'accuracy', ended: 'done' })
    expect(evaluations).toMatchObject([
      { organisation: 'trained, atomic-at-use', n: 4, complete: true, units: { groups: 0 } },
      { organisation: 'trained, group-at-use', n: 4, complete: true, units: { groups: 1 } },
    ])
    expect(evaluations[1].calls).toBeGreaterThan(evaluations[0].calls)
  })

  test('exits with 4 below the threshold, and only then', async () => {
    const words = ['eval', 'small', '--organisation', 'direct', '--limit', '3', '--threshold']
    const above = await magic(...words, '0')
    expect(above.code).toBe(0)
    const impossible = await magic(...['eval', 'small', '--organisation', 'direct', '--threshold', '100%'])
    expect(impossible.code).toBe(4)
    expect(impossible.stderr).toMatch(/Below the threshold: direct scored \d+\.\d %, required is 100\.0 %/)
  })

  test('stops at a cap with 3, and continues when run again', async () => {
    const words = ['eval', 'small', '--organisation', 'chain,direct', '--concurrency', '1', '--json']
    const capped = await magic(...words, '--max-calls', '8')
    expect(capped.code).toBe(3)
    expect(capped.stderr).toContain('chain (simulated): stopped')
    expect(capped.stderr).toMatch(/Stopped at a cap after \d of 10 questions of chain, after \d+ calls/)
    const first = JSON.parse(capped.stdout)
    expect(first).toMatchObject({ ended: 'cap', missing: ['direct'] })
    expect(first.evaluations[0]).toMatchObject({ organisation: 'chain', complete: false, total: 10 })
    const again = await magic(...words)
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('chain (simulated), continued')
    const [chain, direct] = JSON.parse(again.stdout).evaluations
    expect([chain.n, chain.folder, direct.n]).toEqual([10, first.evaluations[0].folder, 10])
    const { stdout, code } = await magic(...words.filter((word) => word !== '--json'), '--max-calls', '0')
    expect([code, stdout]).toEqual([3, ''])
  })

  test('keeps finished questions when interrupted', async () => {
    const model = { kind: 'simulated', seed: 0, latencyMs: 300, faults: {} }
    copyOfSmall('slow', { source: { tasks, model } })
    const words = ['eval', 'slow', '--organisation', 'parallel', '--concurrency', '4', '--display', 'json']
    const { code, stderr } = await interrupted(words, '"progress-update"')
    expect(code).toBe(130)
    expect(stderr).toMatch(/Interrupted after \d of 10 questions of parallel\. Repeat the command/)
  })

  test('evaluates baselines: a searched graph, shuffled graphs, the most probable ones', async () => {
    const before = await magic('show', 'small')
    expect(before.stdout.replace(/\s+/g, ' ')).toContain(
      'Was training worth it? Find out with `magic eval small --organisation trained,searched`.',
    )
    const words = ['eval', 'small', '--organisation', 'searched,shuffled,most-probable', '--json']
    const { code, stdout, stderr } = await magic(...words)
    expect(stderr).toMatch(/searching for a graph on training questions \(simulated\): done, (\d+)\/\1/)
    expect(code).toBe(0)
    const [searched, shuffled, likeliest] = JSON.parse(stdout).evaluations
    expect(searched).toMatchObject({ organisation: 'searched', n: 10, search: { questions: 8 } })
    expect(searched.search.spent.calls).toBeGreaterThan(0)
    expect(shuffled).toMatchObject({ organisation: 'trained, shuffled', n: 10 })
    expect(likeliest).toMatchObject({ organisation: 'trained, most-probable', n: 10 })
    const graphsOf = (name: string) =>
      readFileSync(join(runs, 'small/evaluations', name, 'records.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).graphKey)
        .toSorted()
    expect(graphsOf('test-trained-shuffled')).toEqual(graphsOf('test-trained'))
    const shown = await magic('show', 'small')
    expect(shown.stdout).toMatch(
      /^(?:Training (?:was (?:not )?worth it|may have paid off in tokens only)|It is not clear that training was worth it): /m,
    )
    const { worth } = JSON.parse((await magic('show', 'small', '--json')).stdout)
    expect(worth).toMatchObject({ questions: 10, tokens: { searched: searched.tokens.total } })
  })

  test('a search stops at a cap, is killed, and continues where it was', async () => {
    const model = { kind: 'simulated', seed: 0, latencyMs: 50, faults: {} }
    copyOfSmall('sought', { source: { tasks, model } })
    const asked = ['--organisation', 'searched,direct', '--limit', '2', '--seed', '9', '--json']
    const words = ['eval', 'sought', ...asked]
    const capped = await magic(...words, '--max-calls', '4')
    expect(capped.code).toBe(3)
    expect(JSON.parse(capped.stdout)).toMatchObject({ ended: 'cap', missing: ['searched', 'direct'] })
    expect(JSON.parse(capped.stdout).used.calls).toBeGreaterThanOrEqual(4)
    const killed = await interrupted([...words, '--display', 'json'], '"progress-update"', 'SIGKILL')
    expect(killed.code).toBeNull()
    const { code, stdout } = await magic(...words)
    expect(code).toBe(0)
    const [searched, direct] = JSON.parse(stdout).evaluations
    expect([searched.n, direct.n]).toEqual([2, 2])
    const undisturbed = JSON.parse((await magic('eval', 'small', ...asked)).stdout).evaluations[0].search
    expect(searched.search.graph).toEqual(undisturbed.graph)
    expect(searched.search.score).toBe(undisturbed.score)
  })

  test('runs one graph from a file on every question', async () => {
    const file = join(runs, 'pair.json')
    const units = [
      { role: 'table_interpreter', realization: 'atomic', predecessors: [] },
      { role: 'logic_reasoner', realization: 'group', predecessors: [0] },
    ]
    writeFileSync(file, JSON.stringify({ units }))
    const { code, stdout } = await magic('eval', 'small', '--organisation', `graph:${file}`, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).evaluations).toMatchObject([
      { organisation: 'graph:pair.json', n: 10, units: { mean: 2, groups: 0.5 } },
    ])
    for (const [content, reason] of [
      [
        '{"units": [{"role": "chef", "realization": "atomic"}]}',
        "does not fit the library. The library has no role 'chef'",
      ],
      ['{"units": [{"role": "logic_reasoner", "realization": "pair"}]}', 'field units[0].realization'],
      ['{"graph": []}', 'field units'],
    ] as const) {
      writeFileSync(file, content)
      const refused = await magic('eval', 'small', '--organisation', `direct,graph:${file}`)
      expect([refused.code, refused.stdout]).toEqual([2, ''])
      expect(refused.stderr).toContain(file)
      expect(refused.stderr).toContain(reason)
    }
  })

  test.each([
    [['eval', 'none'], "no run 'none'. Runs in"],
    [['eval', 'small', '--organisation', 'best'], "There is no organisation 'best'. Choose from trained"],
    [['eval', 'small', '--organisation', 'graph:nowhere.json'], 'nowhere.json'],
    [['eval', 'small', '--organisation', 'shuffled', '--limit', '1'], 'at least 2 questions'],
    [['eval', 'small', '--split', 'dev'], "no split 'dev'; it has train, test"],
    [['eval', 'small', '--update', '1'], 'no checkpoint of update 1. There are 0, 2, 3'],
    [['eval', 'small', '--threshold', '2'], 'from 0 to 1'],
  ])('%j exits with 2 and says why', async (words, reason) => {
    const { code, stderr } = await magic(...words)
    expect(stderr).toContain(reason)
    expect(code).toBe(2)
  })
})

describe('magic ask', { timeout: seconds }, () => {
  test('shows how the graph is built, and prints only the answer to standard output', async () => {
    const { code, stdout, stderr } = await magic('ask', 'small', 'What is 17 times 23?')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^-?[0-9.,]+\n$/)
    expect(stderr).toMatch(/^1\. (?:ADD \w+|STOP) /m)
    expect(stderr).toMatch(/finalizer|direct answer/)
    expect(stderr).toContain('The simulated model does not know this question, so its answer is a guess.')
    expect(stderr).not.toContain('\u001b')
  })

  test('accepts options and answers with a letter, reproducibly for a seed', async () => {
    const words = ['ask', 'small', 'Which is prime?', '--options', 'A) 21', 'B) 23', '--seed', '5', '--json']
    const [one, same] = (await Promise.all([magic(...words), magic(...words)])).map(({ stdout }) =>
      JSON.parse(stdout),
    )
    expect(one).toMatchObject({
      contract: 'option-label',
      seed: 5,
      update: 3,
      guess: true,
      status: 'answered',
    })
    expect(['A', 'B']).toContain(one.answer)
    expect(one.steps).toHaveLength(one.graph.units.length + 1)
    expect([same.key, same.answer]).toEqual([one.key, one.answer])
  })

  test('recognises a question of its tasks and uses its data', async () => {
    const { set } = await openTasks(tasks)
    const known = set.splits['test']!.tasks.find(({ options }) => options !== undefined)!
    const { stdout } = await magic('ask', 'small', known.question, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ split: 'test', guess: false, contract: 'option-label' },
      task: { id: known.id, options: known.options },
    })
  })

  test('needs only the run folder: the question file may be gone', async () => {
    const file = join(runs, 'questions.jsonl')
    const questions = [1, 2, 3, 4].map((n) => ({
      id: `q${n}`,
      question: `What is ${n} plus 1?`,
      answer: String(n + 1),
    }))
    writeFileSync(file, questions.map((one) => JSON.stringify(one)).join('\n'))
    await using job = await openJob({ tasks: file }, {}, () => {})
    const { set, model, sandbox, source } = job
    await train({
      ...{ set, model, sandbox, source, encoder: lexicalEncoder },
      folder: join(runs, 'own'),
      settings: { hidden: 16, updates: 1, probes: 1 },
    })
    const before = JSON.parse((await magic('ask', 'own', 'What is 2 plus 2?', '--json')).stdout)
    rmSync(file)
    const { code, stdout, stderr } = await magic('ask', 'own', 'What is 2 plus 2?', '--json')
    expect(stderr).toContain("Cannot open the run's questions")
    expect(stderr).toContain('the simulated model knows no answers')
    const { contract, key, guess } = JSON.parse(stdout)
    expect({ code, contract, key, guess }).toEqual({
      ...{ code: 0, contract: 'numeric-string', key: before.key, guess: true },
    })
  })

  test('asks a run started from code', async () => {
    copyOfSmall('from-code', { source: undefined })
    expect(await magic('ask', 'from-code', 'What is 2 plus 2?')).toMatchObject({ code: 0 })
    const model = { provider: 'elsewhere', model: 'm', options: {} }
    copyOfSmall('from-code', { source: undefined, model })
    const { code, stderr } = await magic('ask', 'from-code', 'What is 2 plus 2?')
    expect(code).toBe(2)
    expect(stderr).toContain('Choose one with --model')
  })

  test.each([
    [['ask', 'small'], 'The question is missing'],
    [['ask', 'small', ' '], 'The question is empty'],
    [['ask', 'small', 'x', '--task', 'task.json'], '--task gives the whole task'],
    [['ask', 'small', 'x', '--options', 'A) alone'], 'A question has 2 to 26 options, not 1'],
    [['ask', 'nowhere/none', 'x'], 'nowhere/none'],
  ])('%j exits with 2 and says why', async (words, reason) => {
    const { code, stderr } = await magic(...words)
    expect(stderr).toContain(reason)
    expect(code).toBe(2)
  })
})

describe('magic show', { timeout: seconds }, () => {
  test('shows a run’s settings, learning and scores', async () => {
    const { code, stdout } = await magic('show', 'small')
    expect(code).toBe(0)
    for (const part of [
      'Synthetic questions (synthetic), 8 train, 10 test, accuracy',
      'all scores are simulated',
      'hidden 16 (paper: 256)',
      'finished, 3 of 3 updates',
      'Per update',
      'score',
      'entropy',
      'tokens reused',
      'Role ',
      'first update',
      'finalizer',
      'Evaluations on test questions',
      'trained, group-at-use',
    ])
      expect(stdout).toContain(part)
    expect(stdout).not.toContain('\u001b')
  })

  test('a resumed finished run is still simulated', async () => {
    const { code, stdout } = await magic('resume', 'small')
    expect(code).toBe(0)
    expect(stdout).toContain('simulated; measured on training questions')
    expect(stdout).toContain('no question came up twice')
  })

  test('prints the same as JSON', async () => {
    const shown = JSON.parse((await magic('show', 'small', '--json')).stdout)
    expect(shown).toMatchObject({ done: 3, finished: true, run: { name: 'small', format: 'magic-run-1' } })
    expect(shown.updates).toHaveLength(3)
    expect(shown.departures).toContainEqual({ name: 'hidden', paper: 256, own: 16 })
    expect(shown.graphs.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(2)
    const direct = shown.evaluations.filter(
      ({ organisation }: { organisation: string }) => organisation === 'direct',
    )
    expect(direct.length).toBeGreaterThan(1)
  })

  test('shows the details of one question', async () => {
    const records = readFileSync(join(runs, 'small/evaluations/test-trained/records.jsonl'), 'utf8')
    const { task, question, expected } = JSON.parse(records.split('\n')[0]!)
    const { code, stdout } = await magic('show', 'small', '--question', task, '--organisation', 'trained')
    expect(code).toBe(0)
    for (const part of [task, question.split('\n')[0], `expected  ${expected}`, 'finalizer', 'simulated'])
      expect(stdout).toContain(part)
    expect(stdout).toMatch(/^ {2}request$[\s\S]*^ {2}reply$/m)
    const { answers } = JSON.parse((await magic('show', 'small', '--question', task, '--json')).stdout)
    expect(answers.map(({ organisation }: { organisation: string }) => organisation)).toContain('direct')
    expect(answers[0]).toMatchObject({ record: { task, question, expected }, transcript: expect.any(Array) })
    const unknown = await magic('show', 'small', '--question', 'none')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("no question 'none'")])
  })

  test('shows a running training, even with a torn last line', async () => {
    copyOfSmall('half', { updates: 9 })
    for (const file of ['events.jsonl', 'trajectories.jsonl'])
      writeFileSync(join(runs, 'half', file), '{"type":"upd', { flag: 'a' })
    const { code, stdout } = await magic('show', 'half')
    expect(code).toBe(0)
    expect(stdout).toMatch(/3 of 9 updates, the last .* ago; if it is not running: `magic resume half`/)
  })

  test('lists the runs, including a damaged one', async () => {
    cpSync(join(runs, 'small'), join(runs, 'torn'), { recursive: true })
    writeFileSync(join(runs, 'torn', 'run.json'), '{')
    const { code, stdout } = await magic('show')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^small +synthetic +3\/3 +finished/m)
    expect(stdout).toMatch(/^torn .*cannot be read/m)
    const list = JSON.parse((await magic('show', '--json')).stdout)
    expect(list.find(({ name }: { name: string }) => name === 'small')).toMatchObject({
      done: 3,
      finished: true,
    })
    rmSync(join(runs, 'torn'), { recursive: true })
    const empty = mkdtempSync(join(runs, 'empty-'))
    expect((await magic('show', '--runs-dir', empty)).stdout).toContain('There are no runs')
  })
})

describe('magic compare', { timeout: seconds }, () => {
  test('lists the questions on which two organisations disagree', async () => {
    const compared = JSON.parse(
      (await magic('compare', 'small', '--base', 'direct', '--list', 'both', '--json')).stdout,
    )
    const trained = compared.evaluations.find(({ label }: { label: string }) => label === 'trained')
    const list = compared.listed.find(({ label }: { label: string }) => label === 'trained')
    expect(list.questions).toHaveLength(trained.against.wins + trained.against.losses)
    for (const { outcome, answers } of list.questions) {
      const [own, base] = answers.map(({ record }: { record: { score: number } }) => record.score)
      expect(outcome).toBe(own > base ? 'won' : 'lost')
    }
    const words = ['compare', 'small', '--base', 'direct', '--list', 'won', '--transcript']
    const { code, stdout } = await magic(...words)
    expect(code).toBe(0)
    expect(stdout).toContain(`trained: ${trained.against.wins} question`)
    if (trained.against.wins > 0) expect(stdout).toMatch(/^won: [\s\S]*^ {2}expected [\s\S]*^ {2}request$/m)
    expect((await magic('compare', 'small', '--transcript')).code).toBe(2)
  })

  test('compares only the organisations asked for', async () => {
    const words = ['compare', 'small', '--base', 'direct', '--organisation']
    const { evaluations } = JSON.parse((await magic(...words, 'trained', '--json')).stdout)
    expect(evaluations.map(({ label }: { label: string }) => label).sort()).toEqual(['direct', 'trained'])
    const { code, stderr } = await magic(...words, 'traned')
    expect(code).toBe(2)
    expect(stderr).toContain("There is no evaluation of 'traned'. Evaluated: ")
  })

  test('pairs the evaluations of one run, question by question', async () => {
    const { code, stdout } = await magic('compare', 'small', '--base', 'direct')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^▸ direct /m)
    expect(stdout).toContain('Difference from direct, in percentage points')
    expect(stdout).toMatch(/^trained +[+-]?\d+\.\d \[.*\] +\d+\.\d +\d+ +\d+ +\d+ +\d+\.\d+×$/m)
    expect(stdout).toContain('simulated')
  })

  test('shows differences between runs, also as JSON', async () => {
    copyOfSmall('later', { updates: 9 })
    const { stdout } = await magic('compare', 'small', 'later', '--json')
    const compared = JSON.parse(stdout)
    expect(compared.base).toBe('small: trained')
    expect(compared.settings).toEqual([{ name: 'updates', values: { small: 3, later: 9 } }])
    const twin = compared.evaluations.find(({ label }: { label: string }) => label === 'later: trained')
    expect(twin.against).toMatchObject({ difference: 0, wins: 0, losses: 0, ties: 10, tokenRatio: 1 })
  })

  test('refuses runs with other questions or without an evaluation', async () => {
    cpSync(join(runs, 'small'), join(runs, 'other'), { recursive: true })
    const header = join(runs, 'other/evaluations/test-direct/evaluation.json')
    const about = JSON.parse(readFileSync(header, 'utf8'))
    writeFileSync(header, JSON.stringify({ ...about, data: '0'.repeat(64) }))
    const mixed = await magic('compare', 'small', 'other')
    expect(mixed.code).toBe(2)
    expect(mixed.stderr).toContain('not of the same questions')
    const without = await magic('compare', 'small', '--split', 'train')
    expect(without.code).toBe(2)
    expect(without.stderr).toContain('`magic eval small --split train`')
    const unknown = await magic('compare', 'small', '--base', 'best')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("'best' to compare with")])
  })
})

/** Runs the command and sends it a signal once it has printed something. */
function interrupted(
  words: readonly string[],
  word: string,
  signal: NodeJS.Signals = 'SIGINT',
): Promise<{ code: number | null; stderr: string }> {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const env = { ...process.env, NO_COLOR: '1', MAGIC_RUNS_DIR: runs }
  const child = spawn(process.execPath, [script, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  let isSent = false
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk)
    if (isSent || !stderr.includes(word)) return
    isSent = true
    child.kill(signal)
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })))
}
