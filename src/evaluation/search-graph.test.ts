import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { learned, modelAround, tinyModel, tinySettings, trainTiny } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { assertLegalGraph } from '../graph/legality.ts'
import { RunFolder } from '../store/run-folder.ts'
import { RunLock, RunLockedError } from '../store/run-lock.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { evaluate } from './evaluate.ts'
import { runOverview } from './run-overview.ts'
import { type GraphSearch, type SearchOptions, searchedOrganisation, searchGraph } from './search-graph.ts'
import { loadPolicy } from './trained-policy.ts'
import { verify } from './verification/verify.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-search-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const set = tinyTaskSet as TaskSet
const settings = { ...tinySettings, updates: 8, probes: 4, trajectories: 4 }
const trained = join(work, 'trained')
beforeAll(() => trainTiny(trained, { settings }))
let count = 0

/** A copy of the run as training left it. */
function copied(): RunFolder {
  const path = join(work, `copy-${++count}`)
  cpSync(trained, path, { recursive: true })
  return new RunFolder(path)
}

const counting = () => modelAround((request, signal) => tinyModel.ask(request, signal))

const search = (folder: RunFolder, options: Partial<SearchOptions> = {}) =>
  searchGraph({ set, model: tinyModel, folder, encoder: lexicalEncoder, sandbox: null, ...options })

async function found(folder: RunFolder, options?: Partial<SearchOptions>): Promise<GraphSearch> {
  const outcome = await search(folder, options)
  if (outcome.ended !== 'done') throw new Error(outcome.ended)
  return outcome.search
}

test('finds a legal graph for at most the training’s evaluations and reports it', async () => {
  const folder = copied()
  const { evaluations: paid } = runOverview(folder)
  const progress: number[] = []
  const model = counting()
  const result = await found(folder, {
    model,
    onStart: (total) => progress.push(total),
    onProgress: (done) => progress.push(done),
  })
  const graph = AgentGraph.of(result.graph.units)
  assertLegalGraph(graph, (await loadPolicy(folder)).policy!.space('mixed'))
  expect(result.evaluations).toBeLessThanOrEqual(paid)
  expect(result.evaluations).toBeGreaterThan(paid / 2)
  expect(result.questions).toBe(splitOf(set, 'train').tasks.length)
  expect(progress).toHaveLength(result.evaluations + 1)
  expect([progress[0], progress.at(-1)]).toEqual([result.evaluations, result.evaluations])
  expect(result.spent.calls).toBe(model.calls)
  expect(result.score).toBeGreaterThan(0)

  const { organisation, about } = searchedOrganisation(result)
  const report = await evaluate({
    ...{ set, model: tinyModel, sandbox: null, folder, organisation, about, search: result },
  })
  expect(report).toMatchObject({ organisation: 'searched', search: result })
  for (const { graph: used } of report.records) expect(used).toEqual(result.graph)
  for await (const { ok, name, detail } of verify({ folder, set, sandbox: null }))
    expect(ok, `${name}: ${detail}`).toBe(true)
})

test('a repeated search makes no calls and finds the same graph; another seed searches anew', async () => {
  const folder = copied()
  const first = await found(folder)
  const model = counting()
  const again = await found(folder, { model })
  expect(model.calls).toBe(0)
  expect(again.graph).toEqual(first.graph)
  expect(again.spent).toMatchObject({ calls: first.spent.calls, input: first.spent.input })
  const other = await found(folder, { seed: 7 })
  expect(other.seed).toBe(7)
  expect(other.spent.calls).toBeGreaterThan(0)
})

test('a capped search continues when asked again and finds the same graph with the same calls', async () => {
  const whole = await found(copied())
  const folder = copied()
  const capped = await search(folder, { budget: { calls: 10 }, concurrency: 1 })
  expect(capped.ended).toBe('cap')
  expect(capped.used.calls).toBeGreaterThanOrEqual(10)
  const rest = await search(folder)
  if (rest.ended !== 'done') throw new Error(rest.ended)
  expect(rest.used.calls).toBe(whole.spent.calls - capped.used.calls)
  expect(rest.search).toMatchObject({ graph: whole.graph, score: whole.score })
  expect(rest.search.spent.calls).toBe(whole.spent.calls)
})

test('a signal stops it and keeps the answers', async () => {
  const whole = await found(copied())
  const folder = copied()
  const stop = new AbortController()
  const model = modelAround((request, signal, number) => {
    if (number === 12) stop.abort()
    return tinyModel.ask(request, signal)
  })
  expect((await search(folder, { model, signal: stop.signal })).ended).toBe('interrupted')
  const rest = counting()
  expect((await found(folder, { model: rest })).graph).toEqual(whole.graph)
  expect(rest.calls).toBeLessThan(whole.spent.calls)
})

test('training resumed after a search ends with the same weights', async () => {
  const half = join(work, 'half')
  expect(await trainTiny(half, { settings, budget: { calls: 150 } })).toMatchObject({
    status: 'budget-reached',
  })
  const { done } = runOverview(new RunFolder(half))
  expect(done).toBeGreaterThan(1)
  expect(done).toBeLessThan(8)
  await found(new RunFolder(half))
  const resumed = await trainTiny(half, { settings, budget: { calls: 1e6 } })
  expect(resumed).toMatchObject({ status: 'finished', done: 8 })
  expect(learned(half).weights.equals(learned(trained).weights)).toBe(true)
})

test('refuses a run with too little training, and one that is being written', async () => {
  const hardly = join(work, 'hardly')
  await trainTiny(hardly, { settings: { ...settings, initialisationOnly: true } })
  await expect(search(new RunFolder(hardly))).rejects.toThrow(
    'has paid for 0 graph evaluations: too few to compare even two graphs',
  )
  const folder = copied()
  const lock = await RunLock.acquire(folder.path)
  await expect(search(folder)).rejects.toThrow(RunLockedError)
  lock.release()
})
