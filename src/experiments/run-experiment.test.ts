import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { failed } from '../../test/scripted-model.ts'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import type { UpdateRecord } from '../training/update-record.ts'
import { ExperimentStopped, Laboratory, type LaboratoryOptions } from './laboratory.ts'
import { planExperiment } from './plan.ts'
import type { ExperimentResult } from './report/tables.ts'
import { type ExperimentName, experiments, runExperiment } from './run-experiment.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-experiment-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const training = { hidden: 8, trajectories: 2, probes: 1, maxUnits: 2 }
const study = { tasks: ['tiny'], seeds: [23], training }

/** The first questions of the tiny set. */
const small: TaskSet = {
  ...tinyTaskSet,
  splits: Object.fromEntries(
    Object.entries(tinyTaskSet.splits).map(([name, { tasks, ...split }]) => [
      name,
      { ...split, tasks: tasks.slice(0, 6) },
    ]),
  ),
  contractOf: (task) => tinyTaskSet.contractOf(task),
}

function laboratory(folder: string, more: Partial<LaboratoryOptions> = {}): Laboratory {
  return new Laboratory({
    folder: join(work, folder),
    open: async () => ({ set: small, source: {} }),
    model: async () => tinyModel,
    encoder: lexicalEncoder,
    engine: { sandbox: null },
    transportFailures: 'zero',
    budget: {},
    routeBudget: 60_000,
    ...more,
  })
}

const run = async (name: ExperimentName, folder: string, more: Partial<LaboratoryOptions> = {}) =>
  (await runExperiment(name, laboratory(folder, more), study)).result

const stored = (folder: string) =>
  JSON.parse(readFileSync(join(work, folder, 'table.json'), 'utf8')) as ExperimentResult

test('Q2 trains its variants from one start, evaluates all five, and keeps quoted figures apart from measured ones', async () => {
  const result = await run('q2', 'q2')
  const [table] = result.tables
  expect(table!.rows.map(([variant]) => variant!.text)).toEqual([
    'all-atomic',
    'all-group',
    'initialisation-only',
    'final-reward-only',
    'full',
    'full compared with final-reward-only',
  ])
  const { training: trained } = new RunFolder(join(work, 'q2/runs/tiny-23-all-group')).readRecord()
  expect(trained).toMatchObject({ restriction: 'all-group', seed: 23, temperatureUpdates: 100 })
  // Every measured figure links to its run.
  for (const cell of table!.rows[0]!.slice(1)) expect(cell.runs?.length).toBeGreaterThan(0)
  expect(existsSync(join(work, 'q2', table!.rows[0]![1]!.runs![1]!, 'records.jsonl'))).toBe(true)
  expect(result).toMatchObject({ simulated: true })
  expect(result.deviations.join()).toMatch(/lexical encoder.*hidden is 8.*request reuse/)
  const report = readFileSync(join(work, 'q2/report.md'), 'utf8')
  expect(report.match(/Deviation: The policy reads the vectors of the lexical/g)!.length).toBe(
    result.tables.filter(({ source }) => source === 'measured').length,
  )
  for (const file of ['report.csv', 'report.tex', 'report.html', 'memberships/tiny.json'])
    expect(existsSync(join(work, 'q2', file)), file).toBe(true)
})

test('repeating an experiment makes no calls and gives the same report; other settings are refused', async () => {
  const silent = modelAround(async () => {
    throw new Error('It must not be asked.')
  })
  const first = stored('q2')
  expect(await run('q2', 'q2', { model: async () => silent })).toEqual(first)
  expect(silent.calls).toBe(0)
  const other = runExperiment('q2', laboratory('q2'), { ...study, seeds: [24] })
  await expect(other).rejects.toThrow(/given\.seeds was \[23\] and is \[24\]/)
})

/** Answers a number of calls, then cancels the whole experiment. */
function laboratoryThatEnds(folder: string, calls: number): Laboratory {
  const end = new AbortController()
  const model: ChatModel = modelAround(async (request, signal, number) => {
    if (number > calls) end.abort(new Error('enough'))
    return tinyModel.ask(request, signal)
  })
  return laboratory(folder, { model: async () => model, signal: end.signal })
}

test('Q3 reaches the same weights and tables despite repeated interruptions', async () => {
  const undisturbed = await run('q3', 'q3')
  let result: ExperimentResult | undefined
  for (let calls = 40; result === undefined && calls < 10_000; calls *= 2)
    result = await runExperiment('q3', laboratoryThatEnds('q3-interrupted', calls), study).then(
      (ended) => ended.result,
      (error: unknown) => {
        expect(error).toBeInstanceOf(ExperimentStopped)
        return undefined
      },
    )
  expect(result!.tables[0]!.rows).toHaveLength(6)
  expect(result!.tables[0]!.rows[0]).toEqual(undisturbed.tables[0]!.rows[0])
  // Calls in flight at an interruption may be paid for twice, so stages can come earlier; the searched
  // graphs are the same.
  const searched = (folder: string) =>
    (readLines(join(work, folder, 'runs/tiny-23-search-then-sft/search.jsonl')) as { asked: string[] }[]).map(
      ({ asked }) => asked,
    )
  const [one, other] = [searched('q3-interrupted'), searched('q3')]
  const both = Math.min(one.length, other.length)
  expect(both).toBeGreaterThan(1)
  expect(one.slice(0, both)).toEqual(other.slice(0, both))
  const graphs = (folder: string) =>
    readFileSync(join(work, folder, 'runs/tiny-23-rl/trajectories.jsonl'), 'utf8')
      .split('\n')
      .slice(0, 2)
  expect(graphs('q3-interrupted')).toEqual(graphs('q3'))
})

test('Q3 keeps the checkpoint of the start and of every stage', () => {
  const rows = stored('q3').tables[0]!.rows
  for (const [route, column] of [['rl', 4] as const, ['search-then-sft', 11] as const]) {
    const folder = new RunFolder(join(work, 'q3/runs', `tiny-23-${route}`))
    const stages = rows.map((cells) => cells[column]!.value as number)
    expect(folder.checkpoints()).toEqual(expect.arrayContaining([...new Set(stages)]))
  }
})

test('a route costs nothing with a snapshot of every pair', async () => {
  const ledger = join(work, 'q3/runs/tiny-23-rl/ledger.sqlite')
  const first = (folder: string) =>
    (readLines(join(work, folder, 'runs/tiny-23-rl/events.jsonl')) as UpdateRecord[])[0]!
  await run('q3', 'q3-known', { ledger, routeBudget: 20_000 })
  expect(first('q3').evaluations).toMatchObject({ known: 0 })
  expect(first('q3-known').evaluations).toMatchObject({ made: 0, asked: first('q3').evaluations.asked })
  expect(first('q3-known').made).toMatchObject({ calls: 0 })
})

test('a priced model spends money, in fifths of the budget', async () => {
  const price = { currency: 'CNY', asOf: '2026-11', input: 10, cachedInput: 1, output: 40 }
  const execution = { prices: { [`${tinyModel.identity.provider}/${tinyModel.identity.model}`]: price } }
  const result = await run('q3', 'q3-money', { engine: { sandbox: null, execution }, routeBudget: 1.2 })
  const [table] = result.tables
  expect(table!.title).toContain('by budget in CNY')
  expect(table!.rows.map(([stage]) => stage!.text)).toEqual([
    ...['0.0000', '0.2400', '0.4800', '0.7200', '0.9600', '1.2000'],
  ])
  const spent = table!.rows.map((cells) => cells[table!.columns.indexOf('RL: spent')]!.value as number)
  expect(spent.at(-1)).toBeGreaterThanOrEqual(1.2)
  expect(result.facts.find(([name]) => name === 'price')![1]).toContain('CNY, as of 2026-11')
  // A price is not a deviation.
  expect(result.deviations.join()).not.toContain('prices')
})

test('D3 gives the same counts from a training’s records and from its file', async () => {
  const result = await run('d3', 'd3')
  const file = join(work, 'd3/runs/tiny-23-credit/trajectories.jsonl')
  const again = await runExperiment('d3', laboratory('d3-from'), { ...study, from: file })
  const counts = ({ tables }: ExperimentResult) => tables[0]!.rows[0]!.slice(1).map(({ text }) => text)
  expect(counts(again.result)).toEqual(counts(result))
  const missing = runExperiment('d3', laboratory('d3-none'), { ...study, from: join(work, 'none.jsonl') })
  await expect(missing).rejects.toThrow('There is no file')
})

test('Q4 reports topologies and a frontier; a cap stops it, and a higher one continues it', async () => {
  const more = { ...study, organisations: ['g-designer'] }
  const capped = laboratory('q4', { budget: { calls: 30 } })
  await expect(runExperiment('q4', capped, more)).rejects.toThrow('A cap was reached')
  const { result } = await runExperiment('q4', laboratory('q4'), more)
  const rows = result.tables[0]!.rows.map(([name, fidelity]) => [name!.text, fidelity!.text])
  expect(rows).toEqual([
    ['direct', 'paper'],
    ['MAGIC', '–'],
    ...['chain', 'complete', 'random', 'tree'].map((name) => [`${name}-topology`, 'adaptation']),
    ['llm-debate', 'released code'],
    ['g-designer', 'released code'],
  ])
  // Learned organisations are trained first, and the report names its sources.
  expect(new RunFolder(join(work, 'q4/runs/tiny-23-g-designer')).readRecord().organisation?.name).toBe(
    'g-designer',
  )
  expect(result.decisions.join()).toContain('g-designer (released code)')
  expect(readFileSync(join(work, 'q4/q4-tiny.svg'), 'utf8')).toContain('(simulated)')
  expect(readFileSync(join(work, 'q4/q4-tiny.png')).subarray(1, 4).toString()).toBe('PNG')
})

test('D1: an unreachable model scores 0 and stays in the denominator; a right answer with a failed node scores 0', async () => {
  const held = splitOf(tinyTaskSet, 'test')
  const tasks = held.tasks.slice(0, 3)
  const set = { ...tinyTaskSet, splits: { test: { ...held, tasks } } }
  const [lost, spoiled] = tasks.map(({ question }) => question) as [string, string]
  const model = modelAround(async (request, signal) => {
    if (request.user.includes(lost)) return failed('server_error')
    const reply = await tinyModel.ask(request, signal)
    const isVerifier = JSON.parse(request.user).executor.role === 'adversarial_verifier'
    return request.user.includes(spoiled) && isVerifier && reply.ok ? { ...reply, text: 'no packet' } : reply
  })
  const clock = { now: () => 0, sleep: async () => {} }
  const more = {
    open: async () => ({ set, source: {} }),
    model: async () => model,
    engine: { sandbox: null, clock },
  } as const
  const result = await run('d1', 'd1', more)
  const [table] = result.tables
  const column = (name: string) => table!.rows.map((cells) => cells[table!.columns.indexOf(name)]!.value)
  expect(table!.title).toContain('3 questions, 24 executions')
  const counted = column('correct') as number[]
  const before = column('right before the failure rule') as number[]
  expect(column('with failures')).toEqual(Array(8).fill(2))
  expect(Math.max(...counted)).toBeLessThanOrEqual(1)
  expect(before.some((right, index) => right > counted[index]!)).toBe(true)
  const evaluations = result.tables.find(({ id }) => id === 'evaluations-tiny')!
  expect(evaluations.rows[0]!.at(-1)!.text).toContain('unanswered 1')
  // No policy takes part, so the report does not mention its encoder.
  expect(result.deviations.join()).not.toContain('encoder')
  await expect(run('d1', 'd1-stops', { ...more, transportFailures: 'stop' })).rejects.toThrow(
    'could not be reached',
  )
})

test('several seeds give means, intervals and a paired test', async () => {
  const twice = { ...study, seeds: [23, 24] }
  const { result } = await runExperiment('q1', laboratory('q1'), twice)
  const seeds = result.tables.find(({ id }) => id === 'seeds-tiny')!
  expect(seeds.rows.map(([name]) => name!.text)).toEqual(['direct', 'MAGIC'])
  expect(seeds.notes!.join()).toContain('With 2 seeds, p cannot be below 0.5')
})

test('a sweep has one point per penalty and budget-matched baselines; transfer has its matrix', async () => {
  const penalties = { tokens: [1e-5], calls: [1e-2] }
  const { result: swept } = await runExperiment('sweep', laboratory('sweep'), { ...study, penalties })
  const [points, matched] = swept.tables
  expect(points!.rows.map(([name]) => name!.text)).toEqual([
    ...['no-penalty', 'tokens-1e-5', 'calls-1e-2', 'direct', 'chain-2', 'chain-3'],
  ])
  const penalised = new RunFolder(join(work, 'sweep/runs/tiny-23-calls-1e-2')).readRecord().training.rewards
  expect(penalised).toMatchObject({ callPenalty: 1e-2, tokenPenalty: 0 })
  // Every organisation beside the direct answer and as many votes as its tokens buy.
  expect(matched!.title).toContain('Matched budget')
  expect(matched!.rows).toHaveLength(10)
  for (const row of matched!.rows.filter((cells) => cells[3]!.text === 'self-consistency')) {
    const tokens = (text: string) => Number(/ at (\d+)$/.exec(text)?.[1] ?? Number.NaN)
    const votes = (text: string) => Number(/self-consistency-(\d+)/.exec(text)?.[1] ?? -1)
    const [budget, within, above] = [row[2]!.value as number, row[4]!.text, row[7]!.text]
    expect(tokens(within)).toBeLessThanOrEqual(Math.round(budget))
    expect(tokens(above)).toBeGreaterThanOrEqual(Math.round(budget))
    expect(votes(above)).toBe(votes(within) + 2)
  }
  const moved = await run('transfer', 'transfer')
  expect(moved.tables[0]!.rows.map((cells) => cells[1]!.text)).toEqual(['trained on tiny', 'untrained'])
})

test('another experiment’s trainings and evaluations are not reused', async () => {
  const earlier = join(work, 'q1')
  expect(await planExperiment(experiments.q4, laboratory('q4-from', { earlier }), study)).toHaveLength(5)
  const otherwise = { ...study, training: { ...training, probes: 0 } }
  const trained = runExperiment('q4', laboratory('q4-other', { earlier }), otherwise)
  await expect(trained).rejects.toThrow(/was trained differently:\n {2}probes was 1 and is 0/)
  const tasks = splitOf(small, 'test').tasks.slice(0, 2)
  const set = { ...small, splits: { ...small.splits, test: { ...splitOf(small, 'test'), tasks } } }
  const fewer = laboratory('q4-fewer', { earlier, open: async () => ({ set, source: {} }) })
  await expect(runExperiment('q4', fewer, study)).rejects.toThrow('is an evaluation on other questions')
})

test('a plan lists every training and evaluation without calling the model', async () => {
  const silent = modelAround(async () => {
    throw new Error('It must not be asked.')
  })
  const steps = await planExperiment(experiments.q2, laboratory('plan', { model: async () => silent }), study)
  expect(steps.filter(({ updates }) => updates > 0)).toHaveLength(4)
  expect(steps.filter(({ executions }) => executions > 0)).toHaveLength(5)
  expect(silent.calls).toBe(0)
})
