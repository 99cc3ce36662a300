import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectSameLearning, expectSameSpending } from '../../test/runs/same-training.ts'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel, tinySettings, trainTiny } from '../../test/tiny-training.ts'
import { graphKey } from '../graph/graph-key.ts'
import { finalGraph } from '../learning/values/value-questions.ts'
import { trainingPresets } from '../settings/training.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { EarlierLook } from './earlier-looks.ts'
import type { TrainingEvent, TrainOptions } from './train-options.ts'
import type { TrajectoryRecord } from './update-record.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-earlier-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const settings = { ...trainingPresets.values, hidden: 16, maxUnits: 2, evaluations: 120 }
const [paper, first, second] = ['paper', 'first', 'second'].map((name) => join(work, name)) as [
  string,
  string,
  string,
]
beforeAll(async () => {
  await trainTiny(paper)
  await trainTiny(first, { settings })
  await trainTiny(second, { settings: { ...settings, seed: 7 }, learnFrom: [first, paper] })
})

const linesOf = (folder: string) => readLines(new RunFolder(folder).trajectoriesFile) as TrajectoryRecord[]
const earlierIn = (folder: string) => readLines(new RunFolder(folder).earlierLooksFile) as EarlierLook[]
const pairsOf = (folder: string) =>
  linesOf(folder).flatMap(({ trajectories }) =>
    trajectories.map((one) => `${graphKey(finalGraph(one))} ${one.query}`),
  )

/** Trains until the first event of a kind, by when the known looks are written. */
async function trainUntil(type: 'start' | 'update', folder: string, options: Partial<TrainOptions>) {
  const stop = new AbortController()
  const onEvent = (event: TrainingEvent) => {
    if (event.type === type) stop.abort(new Error('enough'))
  }
  expect((await trainTiny(folder, { ...options, onEvent, signal: stop.signal })).status).toBe('interrupted')
}

test('training does not pay for an earlier run’s evaluations and records them as known', () => {
  const [known, paid] = [new Set([...pairsOf(first), ...pairsOf(paper)]), pairsOf(second)]
  expect(paid.length).toBeGreaterThan(60)
  expect(paid.length).toBeLessThanOrEqual(120)
  expect(paid.filter((pair) => known.has(pair))).toEqual([])
  expect(earlierIn(second)).toHaveLength(known.size)
  expect(new Set(earlierIn(second).map(({ run }) => run))).toEqual(new Set(['first', 'paper']))
  const looks = linesOf(first).flatMap(({ trajectories }) => trajectories)
  const told = earlierIn(second).filter(({ run }) => run === 'first')
  expect(told.map(({ task, score, tokens }) => [task, score, tokens])).toEqual(
    looks.map(({ query, terminalScore, terminalUsage }) => [query, terminalScore, terminalUsage!.tokens]),
  )
  expect(existsSync(new RunFolder(first).earlierLooksFile)).toBe(false)
})

test('with the earlier run’s seed, the first round pays for nothing', async () => {
  const folder = join(work, 'same-seed')
  await trainUntil('update', folder, { settings, learnFrom: [first] })
  expect(linesOf(folder)[0]!.trajectories).toEqual([])
  expect(linesOf(folder)[0]!.chosen!.flatMap(({ tasks }) => tasks)).toHaveLength(24)
})

test('a resume no longer needs the earlier runs and ends bit-identical', async () => {
  const folder = join(work, 'resumed')
  const gone = [first, paper].map((path) => join(work, 'gone', path === first ? 'first' : 'paper'))
  cpSync(first, gone[0]!, { recursive: true })
  cpSync(paper, gone[1]!, { recursive: true })
  const options = { settings: { ...settings, seed: 7 }, learnFrom: gone }
  const stop = new AbortController()
  const model = modelAround((request, signal, number) => {
    if (number === 100) stop.abort(new Error('enough'))
    return tinyModel.ask(request, signal)
  })
  expect((await trainTiny(folder, { ...options, model, signal: stop.signal })).status).toBe('interrupted')
  rmSync(join(work, 'gone'), { recursive: true })
  expect((await trainTiny(folder, options)).status).toBe('finished')
  expectSameLearning(folder, second)
  expectSameSpending(folder, second)
})

test('known looks are passed on to a run that learns from this one', async () => {
  const folder = join(work, 'third')
  await trainUntil('start', folder, { settings, learnFrom: [second] })
  const known = new Set([...pairsOf(first), ...pairsOf(paper), ...pairsOf(second)])
  expect(earlierIn(folder)).toHaveLength(known.size)
  expect(new Set(earlierIn(folder).map(({ run }) => run))).toEqual(new Set(['first', 'paper', 'second']))
})

test('takes only evaluations of identical questions with allowed graphs', async () => {
  const folder = join(work, 'changed')
  const { train } = tinyTaskSet.splits
  const [changed, ...others] = train!.tasks
  const tasks = [{ ...changed!, question: 'How many books are 3 books?' }, ...others.slice(0, 11)]
  const set = { ...tinyTaskSet, splits: { ...tinyTaskSet.splits, train: { ...train!, tasks } } }
  await trainUntil('start', folder, { set, settings: { ...settings, maxUnits: 1 }, learnFrom: [first] })
  const same = new Set(others.slice(0, 11).map(({ id }) => id))
  const told = earlierIn(folder)
  expect(told.length).toBeGreaterThan(0)
  expect(told.filter(({ task, graph }) => !same.has(task) || graph.units.length > 1)).toEqual([])
})

test('refuses unusable runs, names the differences, and leaves nothing behind', async () => {
  const folder = join(work, 'refused')
  const identity = { ...tinyModel.identity, model: 'another' }
  const model = { identity, ask: tinyModel.ask.bind(tinyModel) }
  await expect(trainTiny(folder, { settings, model, learnFrom: [first] })).rejects.toThrow(
    /Nothing can be learned from the run .*first: .*\n.*model\.model was ".*" and is "another"/,
  )
  await expect(trainTiny(folder, { settings: tinySettings, learnFrom: [first] })).rejects.toThrow(
    'Only a training by values learns from earlier runs',
  )
  await expect(trainTiny(folder, { settings, learnFrom: [join(work, 'none')] })).rejects.toThrow(
    'is not a run',
  )
  expect(existsSync(folder)).toBe(false)
})

test('a resume is refused if the known looks were changed or extended', async () => {
  for (const [of, change, told] of [
    [second, (text: string) => text.replace('"score":0', '"score":1'), 'has changed'],
    [second, () => '', 'is shorter'],
    [first, () => readFileSync(new RunFolder(second).earlierLooksFile, 'utf8'), 'was not there'],
  ] as const) {
    const copy = join(work, 'copy')
    cpSync(of, copy, { recursive: true })
    const { earlierLooksFile } = new RunFolder(copy)
    writeFileSync(earlierLooksFile, change(of === first ? '' : readFileSync(earlierLooksFile, 'utf8')))
    await expect(trainTiny(copy, { settings })).rejects.toThrow(`earlier-looks.jsonl ${told}`)
    rmSync(copy, { recursive: true })
  }
})
