import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel, trainTiny } from '../../test/tiny-training.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { numericString } from '../library/answer-contract.ts'
import type { ChatFailure } from '../models/chat-model.ts'
import { ModelRefusedError } from '../models/stop-error.ts'
import { ConstructionPolicy } from '../policy/policy.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder } from '../store/run-folder.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { directOrganisation } from './baseline-organisations.ts'
import { type EvaluateOptions, evaluate, storedEvaluations } from './evaluate.ts'
import { solve } from './solve.ts'
import { type ExplainedConstruction, loadPolicy } from './trained-policy.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-evaluate-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const set = tinyTaskSet as TaskSet
const counting = () => modelAround((request, signal) => tinyModel.ask(request, signal))
let count = 0
const fresh = () => join(work, `run-${++count}`)

/** The direct answer makes one call for each of the sixteen held-out questions. */
function evaluateDirect(folder: string, options: Partial<EvaluateOptions> = {}) {
  const organisation = directOrganisation()
  return evaluate({ set, model: tinyModel, organisation, folder, sandbox: null, concurrency: 2, ...options })
}

const trained = fresh()
beforeAll(() => trainTiny(trained))

test('an interrupted evaluation continues without repeating a question', async () => {
  const folder = fresh()
  const whole = await evaluateDirect(fresh())
  const stop = new AbortController()
  const model = modelAround((request, signal, number) => {
    if (number === 7) stop.abort()
    return tinyModel.ask(request, signal)
  })
  const first = await evaluateDirect(folder, { model, signal: stop.signal })
  expect(first).toMatchObject({ complete: false, n: 6 })
  expect(storedEvaluations(new RunFolder(folder))[0]!.records).toHaveLength(6)
  const rest = counting()
  const second = await evaluateDirect(folder, { model: rest })
  expect(rest.calls).toBe(10)
  expect(second).toMatchObject({ complete: true, n: 16, folder: first.folder })
  expect(second.score).toEqual(whole.score)
  expect(second.records.map(({ task, score }) => [task, score])).toEqual(
    whole.records.map(({ task, score }) => [task, score]),
  )
})

test('a record cut short by a kill is made again', async () => {
  const folder = fresh()
  const whole = await evaluateDirect(folder)
  const file = join(whole.folder!, 'records.jsonl')
  const text = readFileSync(file, 'utf8')
  rmSync(join(whole.folder!, 'report.json'))
  rmSync(`${whole.folder!}.digests.json`)
  writeFileSync(file, text.slice(0, -40))
  const rest = counting()
  const again = await evaluateDirect(folder, { model: rest })
  expect(rest.calls).toBe(1)
  expect(again.n).toBe(16)
  expect(readLines(file)).toHaveLength(16)
})

test('a complete evaluation is made afresh beside the old one, and so is one with other settings', async () => {
  const folder = fresh()
  const first = await evaluateDirect(folder)
  const model = counting()
  const second = await evaluateDirect(folder, { model })
  expect(model.calls).toBe(16)
  expect(second.folder).not.toBe(first.folder)
  const stop = new AbortController()
  await evaluateDirect(folder, { signal: stop.signal, onRecord: () => stop.abort() })
  const other = await evaluateDirect(folder, { about: { seed: 2 }, model: counting() })
  expect(storedEvaluations(new RunFolder(folder))).toHaveLength(4)
  expect(other.n).toBe(16)
})

test('a budget stops it after the questions in progress, and a higher one continues it', async () => {
  const folder = fresh()
  const model = counting()
  const capped = await evaluateDirect(folder, { model, budget: { calls: 5 } })
  expect(capped.complete).toBe(false)
  expect(capped.n).toBeGreaterThanOrEqual(5)
  // Two concurrent calls keep eight questions in progress.
  expect(capped.n).toBeLessThan(5 + 8)
  expect(model.calls).toBe(capped.n)
  const whole = await evaluateDirect(folder, { model })
  expect(whole).toMatchObject({ complete: true, n: 16 })
  expect(model.calls).toBe(16)
})

test('a zero budget gives no score, rather than a score of zero', async () => {
  const model = counting()
  await expect(evaluateDirect(fresh(), { model, budget: { tokens: 0 } })).rejects.toThrow(/there is no score/)
  expect(model.calls).toBe(0)
})

test('a money budget without a price is refused before anything is asked or written', async () => {
  const folder = fresh()
  const counted = counting()
  const identity = { provider: 'acme', model: 'large', options: {} }
  const model = { identity, ask: counted.ask }
  await expect(evaluateDirect(folder, { model, budget: { cost: 1 } })).rejects.toThrow(
    /no price for acme\/large/,
  )
  expect(counted.calls).toBe(0)
  expect(existsSync(folder)).toBe(false)
})

test('a key revoked midway stops it and keeps the answers', async () => {
  const folder = fresh()
  const refusal: ChatFailure = { ok: false, kind: 'unauthorized', message: 'no', durationMs: 1 }
  const model = modelAround(async (request, signal, number) =>
    number > 6 ? refusal : tinyModel.ask(request, signal),
  )
  await expect(evaluateDirect(folder, { model })).rejects.toThrow(ModelRefusedError)
  expect(model.calls).toBeLessThanOrEqual(6 + 2)
  const rest = counting()
  expect(await evaluateDirect(folder, { model: rest })).toMatchObject({ complete: true, n: 16 })
  expect(rest.calls).toBe(10)
})

test('a trained policy is evaluated on held-out questions and answers a new one', async () => {
  const policy = await loadPolicy(trained, { encoder: lexicalEncoder })
  expect(policy.update).toBe(3)
  const report = await evaluate({
    set,
    model: tinyModel,
    organisation: policy.organisation(),
    folder: trained,
    sandbox: null,
  })
  expect(report).toMatchObject({ organisation: 'trained', split: 'test', n: 16, complete: true })
  const task = set.splits['test']!.tasks[0]!
  const solved = await solve({ policy, task, model: tinyModel, contract: numericString })
  const record = report.records.find((one) => one.task === task.id)!
  // Seed and id determine the graph, and the graph determines the answer.
  expect(solved.graph.toJSON()).toEqual(record.graph)
  expect(solved.answer).toEqual(record.answer)
})

test('a run folder is enough to solve: it has the contract, tools and settings, and nothing is done twice', async () => {
  const drawn = vi.spyOn(ConstructionPolicy, 'initialize')
  const embedded: string[] = []
  const encoder: FrozenTextEncoder = {
    ...lexicalEncoder,
    encode: (texts) => {
      embedded.push(...texts)
      return lexicalEncoder.encode(texts)
    },
  }
  const policy = await loadPolicy(trained, { encoder })
  expect(drawn).not.toHaveBeenCalled()
  drawn.mockRestore()
  embedded.length = 0
  const decided = vi.spyOn(policy.policy!, 'decide')
  const constructions: ExplainedConstruction[] = []
  const { id: _, ...task } = set.splits['test']!.tasks[0]!
  const solved = await solve({
    policy,
    task,
    model: tinyModel,
    onConstruction: (construction) => constructions.push(construction),
  })
  expect(solved.trace.contract).toBe(numericString.name)
  expect(constructions.map(({ graph }) => graph)).toEqual([solved.graph])
  // One decision per step; none at the unit limit.
  expect(decided.mock.calls.length).toBeLessThanOrEqual(solved.graph.size + 1)
  expect(embedded.filter((text) => text.includes(task.question))).toHaveLength(1)
  expect(new Set(embedded).size).toBe(embedded.length)
})

test('checkpoint 0 is the untrained policy, and an encoder other than the run’s is refused', async () => {
  const untrained = await loadPolicy(trained, { encoder: lexicalEncoder, update: 0 })
  expect(untrained.update).toBe(0)
  expect(untrained.organisation().name).toBe('untrained')
  const encoder = { ...lexicalEncoder, fingerprint: 'another', name: 'another' }
  await expect(loadPolicy(trained, { encoder })).rejects.toThrow(/trained with the text encoder/)
})
