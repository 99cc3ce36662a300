import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InstantClock } from '../../test/faults/instant-clock.ts'
import { expectSameLearning } from '../../test/runs/same-training.ts'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { learned, modelAround, tinyModel, tinySettings, trainTiny } from '../../test/tiny-training.ts'
import type { ChatFailure } from '../models/chat-model.ts'
import { ModelRefusedError, ModelUnreachableError } from '../models/stop-error.ts'
import { deriveRandom } from '../numerics/random.ts'
import { Problem } from '../problem.ts'
import { readLines } from '../store/durable-file.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { RunError, RunFolder } from '../store/run-folder.ts'
import { RunLock, RunLockedError } from '../store/run-lock.ts'
import type { TrainingResult, TrainOptions } from './train-options.ts'
import type { UpdateRecord } from './update-record.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-train-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
let count = 0
const fresh = () => join(work, `run-${++count}`)

const reference = fresh()
let whole: TrainingResult
beforeAll(async () => {
  whole = await trainTiny(reference)
})

/** Answers like the tiny model, after a random delay. */
const slowModel = (ms: number) =>
  modelAround(async (request, signal) => {
    await wait(Math.random() * ms)
    return tinyModel.ask(request, signal)
  })

const expectSameAsReference = (folder: string) => expectSameLearning(folder, reference)

describe('a normal run', () => {
  test('has its record, a line per update, and its last checkpoints', () => {
    const run = new RunFolder(reference)
    expect(whole).toMatchObject({ status: 'finished', done: 3, updates: 3 })
    expect(run.checkpoints()).toEqual([2, 3])
    const lines = readLines(run.eventsFile) as UpdateRecord[]
    expect(lines.map(({ update }) => update)).toEqual([0, 1, 2])
    expect(lines.at(-1)!.spent.calls).toBe(whole.spent.calls)
    // Plus the self-check's call.
    expect(lines.reduce((sum, { made }) => sum + made.calls, 1)).toBe(whole.spent.calls)
    expect(run.readRecord()).toMatchObject({ name: 'run-1', updates: 3, training: { hidden: 8 } })
  })

  test('changes the weights', async () => {
    const untrained = fresh()
    await trainTiny(untrained, { settings: { ...tinySettings, initialisationOnly: true } })
    expect(learned(untrained).weights.equals(learned(reference).weights)).toBe(false)
  })

  test('is not started over, and a missing run is not resumed, without any call or file', async () => {
    const model = slowModel(0)
    await expect(trainTiny(reference, { model, resume: false })).rejects.toThrow(
      /already contains a run. Resume it/,
    )
    const none = fresh()
    await expect(trainTiny(none, { model, resume: true })).rejects.toThrow(/is not a run: there is nothing/)
    expect(existsSync(none)).toBe(false)
    expect(model.calls).toBe(0)
  })

  test('is not started among the checkpoints of a run without run.json', async () => {
    const folder = fresh()
    await trainTiny(folder)
    rmSync(join(folder, 'run.json'))
    const settings = { ...tinySettings, seed: 7 }
    await expect(trainTiny(folder, { settings, resume: false })).rejects.toThrow(
      /has checkpoints but no run.json/,
    )
    expect(new RunFolder(folder).checkpoints()).toEqual([2, 3])
  })

  test('can be resumed when finished, which asks and changes nothing', async () => {
    const model = slowModel(0)
    const { status, spent } = await trainTiny(reference, { model })
    expect(status).toBe('finished')
    expect(spent.calls).toBe(whole.spent.calls)
    expect(model.calls).toBe(0)
  })
})

describe('the same seed and answers give bit-identical weights and equal trajectories', () => {
  test.each([1, 8, 64])('at a concurrency of %i with random response times', async (concurrency) => {
    const folder = fresh()
    await trainTiny(folder, { model: slowModel(4), concurrency })
    expectSameAsReference(folder)
  })

  test('without request reuse, which makes more calls', async () => {
    const folder = fresh()
    const model = slowModel(1)
    const settings = { ...tinySettings, requestReuse: false }
    const { spent } = await trainTiny(folder, { model, settings, concurrency: 64 })
    expectSameAsReference(folder)
    expect(spent.calls).toBeGreaterThan(whole.spent.calls)
  })

  test('after an interruption at any of ten moments, without repeating an answered call', async () => {
    for (let number = 0; number < 10; number += 1) {
      const folder = fresh()
      const at = Math.ceil(deriveRandom(3, 'interrupt', number).uniform() * (whole.spent.calls + 1))
      const stop = new AbortController()
      const model = modelAround((request, signal, call) => {
        if (call === at) stop.abort()
        return tinyModel.ask(request, signal)
      })
      const { status, done } = await trainTiny(folder, { model, signal: stop.signal }).catch((error) => {
        // Before the run has begun there is nothing to resume.
        if (at > 1) throw error
        return { status: 'interrupted', done: 0 }
      })
      if (done < 3) expect(status).toBe('interrupted')
      await trainTiny(folder, { model })
      expectSameAsReference(folder)
      // The self-check's call is repeated if the first one was cut short.
      expect(model.calls).toBe(whole.spent.calls + (at === 1 ? 1 : 0))
    }
  })

  test('after being cancelled in the middle of an update with unanswered calls', async () => {
    const folder = fresh()
    const stop = new AbortController()
    const model = modelAround(async (request, signal, call) => {
      if (call === 30) stop.abort()
      // From here on it answers only on abort.
      if (call >= 30) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      return tinyModel.ask(request, signal)
    })
    const { status, done } = await trainTiny(folder, { model, signal: stop.signal })
    expect(status).toBe('interrupted')
    expect(done).toBeLessThan(3)
    const rest = slowModel(0)
    const { spent } = await trainTiny(folder, { model: rest })
    expectSameAsReference(folder)
    expect(spent.calls).toBe(whole.spent.calls)
    expect(spent.unknown).toBeGreaterThan(0)
    // 29 calls were answered, including the self-check's.
    expect(rest.calls).toBe(whole.spent.calls - 29)
  })
})

describe('model faults', () => {
  test('with three of ten attempts failing, none is lost or counted twice', async () => {
    const folder = fresh()
    const kinds = ['rate_limited', 'server_error', 'network', 'bad_response', 'timeout'] as const
    const attempts = new Map<string, number>()
    const model = modelAround(async (request, signal) => {
      const attempt = (attempts.get(request.user) ?? 0) + 1
      attempts.set(request.user, attempt)
      const random = deriveRandom(5, 'fault', request.user, attempt)
      if (random.uniform() >= 0.3) return tinyModel.ask(request, signal)
      const kind = kinds[Math.floor(random.uniform() * kinds.length)]!
      return { ok: false, kind, message: 'simulated', durationMs: 1 }
    })
    const { status, spent } = await trainTiny(folder, { model, clock: new InstantClock() })
    expect(status).toBe('finished')
    expect(model.calls).toBeGreaterThan(1.2 * whole.spent.calls)
    expect(spent.calls).toBe(whole.spent.calls)
    expectSameAsReference(folder)
  })

  test('an unreachable model ends the run, which can be resumed', async () => {
    const folder = fresh()
    const dead: ChatFailure = { ok: false, kind: 'network', message: 'connection refused', durationMs: 1 }
    const model = modelAround(async (request, signal, call) =>
      call > 20 ? dead : tinyModel.ask(request, signal),
    )
    await expect(trainTiny(folder, { model, clock: new InstantClock() })).rejects.toThrow(
      ModelUnreachableError,
    )
    await trainTiny(folder)
    expectSameAsReference(folder)
  })

  test('a revoked key ends the run at once; with another key it reaches the same weights', async () => {
    const folder = fresh()
    const refusal: ChatFailure = { ok: false, kind: 'unauthorized', message: 'no such key', durationMs: 1 }
    let refused = 0
    const model = modelAround(async (request, signal, call) => {
      await wait(1)
      if (call <= 40) return tinyModel.ask(request, signal)
      refused += 1
      return refusal
    })
    await expect(trainTiny(folder, { model, concurrency: 4 })).rejects.toThrow(ModelRefusedError)
    expect(refused).toBeLessThanOrEqual(4)
    await wait(20)
    expect(refused).toBeLessThanOrEqual(4)
    const rest = slowModel(0)
    await trainTiny(folder, { model: rest })
    expectSameAsReference(folder)
    expect(rest.calls).toBe(whole.spent.calls - 40)
  })
})

describe('budgets', () => {
  test('reaching one within an update ends the run after it; a higher one continues', async () => {
    const folder = fresh()
    const lines = readLines(new RunFolder(reference).eventsFile) as UpdateRecord[]
    const first = lines[0]!.spent
    const middle = Math.ceil(first.calls / 2)
    const capped = await trainTiny(folder, { budget: { calls: middle } })
    expect(capped).toMatchObject({
      status: 'budget-reached',
      done: 1,
      cap: { name: 'calls', overshoot: first.calls - middle },
    })
    const again = await trainTiny(folder, { budget: { calls: middle } })
    expect(again).toMatchObject({ status: 'budget-reached', done: 1, spent: { calls: first.calls } })
    const tokens = { tokens: first.input + first.output + 1 }
    expect(await trainTiny(folder, { budget: tokens })).toMatchObject({ status: 'budget-reached', done: 2 })
    expect(await trainTiny(folder)).toMatchObject({ status: 'finished', done: 3 })
    expectSameAsReference(folder)
  })

  test('a zero budget starts no update', async () => {
    const folder = fresh()
    const model = slowModel(0)
    const result = await trainTiny(folder, { model, budget: { calls: 0 } })
    expect(result).toMatchObject({ status: 'budget-reached', done: 0, spent: { calls: 0 } })
    expect(model.calls).toBe(0)
    await trainTiny(folder, { model })
    expectSameAsReference(folder)
  })

  test('answers above temperature 0, which are not kept, do not count as lost on resume', async () => {
    const folder = fresh()
    const execution = { decoding: { temperature: 0.5 } }
    await trainTiny(folder, { execution, budget: { calls: 1 } })
    let inFlight: number | undefined
    const { spent } = await trainTiny(folder, {
      execution,
      onEvent: (event) => {
        if (event.type === 'start') inFlight = event.inFlight
      },
    })
    expect(inFlight).toBe(0)
    expect(spent.unknown).toBe(0)
  })

  test('a budget of exactly the sum lets the run finish', async () => {
    const { calls, input, output } = whole.spent
    for (const budget of [{ calls }, { tokens: input + output }]) {
      const folder = fresh()
      expect(await trainTiny(folder, { budget })).toMatchObject({ status: 'finished', done: 3 })
      expectSameAsReference(folder)
    }
  })

  test('a price turns usage into cost, across all resumes', async () => {
    const folder = fresh()
    const { provider, model } = tinyModel.identity
    const price = { currency: 'EUR', asOf: '2026-01', input: 1000, cachedInput: 1000, output: 1000 }
    const execution = { prices: { [`${provider}/${model}`]: price } }
    const money = (whole.spent.input + whole.spent.output) / 1000
    const capped = await trainTiny(folder, { execution, budget: { cost: money / 10 } })
    expect(capped).toMatchObject({ status: 'budget-reached', cap: { name: 'cost' } })
    const { spent } = await trainTiny(folder, { execution })
    expect(spent.cost).toMatchObject({ currency: 'EUR' })
    expect((spent.cost as { amount: number }).amount).toBeCloseTo(money, 6)
    expectSameAsReference(folder)
  })
})

test.each([
  ['training', 'rewards.beta', { settings: { rewards: { beta: 'much' } } }],
  ['execution', 'toolSeconds', { execution: { toolSeconds: -1 } }],
  ['budget', 'calls', { budget: { calls: 1.5 } }],
] as const)(
  'bad %s settings from code are refused by field, before creating a folder',
  async (kind, field, given) => {
    const folder = fresh()
    const refused = trainTiny(folder, given as Partial<TrainOptions>)
    await expect(refused).rejects.toThrow(Problem)
    await expect(refused).rejects.toThrow(new RegExp(`The ${kind} settings are not valid.*at ${field}`, 's'))
    expect(existsSync(folder)).toBe(false)
  },
)

describe('anything that would spoil the weights', () => {
  test('a scorer that returns no number ends the run, which keeps its last good state', async () => {
    const folder = fresh()
    let scored = 0
    const checks = 40 * 5
    const set = {
      ...tinyTaskSet,
      scorer: {
        ...tinyTaskSet.scorer,
        score: async (...given: Parameters<typeof tinyTaskSet.scorer.score>) => {
          scored += 1
          const score = await tinyTaskSet.scorer.score(...given)
          return scored > checks + 12 ? { ...score, score: Number.NaN } : score
        },
      },
    }
    await expect(trainTiny(folder, { set })).rejects.toThrow(/scorer of 'tiny' gave NaN .*from 0 to 1/)
    await trainTiny(folder)
    expectSameAsReference(folder)
  })

  test('a poisoned score in the ledger is not learned from, and the update is named', async () => {
    const folder = fresh()
    await trainTiny(folder)
    // The last update is repeated from a ledger where someone changed a score, with a matching checksum.
    const run = new RunFolder(folder)
    const database = new DatabaseSync(run.ledgerFile)
    const rows = database.prepare('SELECT * FROM evaluations').all()
    for (const { place, graph, task, data_version, executor, status, execution, detail } of rows) {
      const parts = [graph, task, data_version, executor, Number.POSITIVE_INFINITY, status, execution, detail]
      const crc = crc32(JSON.stringify(parts))
      database.prepare('UPDATE evaluations SET score = 9e999, crc = ? WHERE place = ?').run(crc, place!)
    }
    database.close()
    const before = readFileSync(join(run.checkpointPath(2), 'policy.safetensors'))
    const resumed = trainTiny(folder, { fromUpdate: 2 })
    await expect(resumed).rejects.toThrow(RunError)
    await expect(resumed).rejects.toThrow(/^Update 2, counted from 0, was not applied.* is Infinity/)
    expect(run.checkpoints()).toEqual([2])
    expect(readFileSync(join(run.checkpointPath(2), 'policy.safetensors')).equals(before)).toBe(true)
  })

  test('other settings, data or models are refused by name', async () => {
    const settings = { ...tinySettings, learningRate: 1 }
    await expect(trainTiny(reference, { settings })).rejects.toThrow(
      /training.learningRate was 0.0001 and is 1/,
    )
    const model = { ...tinyModel, identity: { ...tinyModel.identity, model: 'another' }, ask: tinyModel.ask }
    await expect(trainTiny(reference, { model })).rejects.toThrow(
      /model.model was "simulated" and is "another"/,
    )
  })

  test('reordered questions are refused, because the next update would use another one', async () => {
    const train = tinyTaskSet.splits['train']!
    const tasks = [train.tasks[1]!, train.tasks[0]!, ...train.tasks.slice(2)]
    const set = { ...tinyTaskSet, splits: { ...tinyTaskSet.splits, train: { ...train, tasks } } }
    const resumed = trainTiny(reference, { set })
    await expect(resumed).rejects.toThrow(RunError)
    await expect(resumed).rejects.toThrow(/different order now. Question 1 was 'shelf-0' and is 'boxes-0'/)
  })

  test('another gain is refused with the original value', async () => {
    const folder = join(work, 'gain')
    const settings = { ...tinySettings, gain: 10, updates: 1 }
    await trainTiny(folder, { settings })
    const plain = join(work, 'no-gain')
    await trainTiny(plain, { settings: { ...settings, gain: 1 } })
    expect(learned(folder).weights).not.toEqual(learned(plain).weights)
    await expect(trainTiny(folder, { settings: { ...settings, gain: 1 } })).rejects.toThrow(
      'training.gain was 10 and is 1',
    )
    await trainTiny(folder, { settings })
  })

  test('a cost cap added on resume needs a price too', async () => {
    const folder = fresh()
    const identity = { ...tinyModel.identity, provider: 'acme', model: 'large' }
    const model = { identity, ask: tinyModel.ask.bind(tinyModel) }
    await trainTiny(folder, { model })
    const before = readFileSync(join(folder, 'run.json'), 'utf8')
    const resumed = trainTiny(folder, { model, budget: { cost: 1 } })
    await expect(resumed).rejects.toThrow(RunError)
    await expect(resumed).rejects.toThrow(
      /budget caps the cost, but there is no price for acme\/large. Set one under model\.prices\["acme\/large"\]/,
    )
    expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(before)
  })
})

describe('other obstacles in the folder', () => {
  test("a second trainer is refused with the first one's process, before anything else", async () => {
    const lock = await RunLock.acquire(reference)
    try {
      const model = slowModel(0)
      const second = trainTiny(reference, { model })
      await expect(second).rejects.toThrow(RunLockedError)
      await expect(second).rejects.toThrow(`process ${process.pid}`)
      expect(model.calls).toBe(0)
    } finally {
      lock.release()
    }
  })

  test('a run continues from an earlier checkpoint if the newest is damaged', async () => {
    const folder = fresh()
    await trainTiny(folder)
    const run = new RunFolder(folder)
    rmSync(join(run.checkpointPath(3), 'policy.safetensors'))
    await expect(trainTiny(folder)).rejects.toThrow(
      /update-000003 cannot be used.*There is one of update 2: resume with --from-update 2/,
    )
    const model = slowModel(0)
    expect(await trainTiny(folder, { model, fromUpdate: 2 })).toMatchObject({ status: 'finished', done: 3 })
    expect(model.calls).toBe(0)
    expectSameAsReference(folder)
  })

  test('a full ledger ends it with the remedy; with room it continues', async () => {
    const folder = fresh()
    const { open } = SqliteLedger
    SqliteLedger.open = (path, options) => open.call(SqliteLedger, path, { ...options, maxPages: 40 })
    try {
      await expect(trainTiny(folder)).rejects.toThrow(
        /The disk is full: \d+ more bytes do not fit into the ledger .*free some disk space/,
      )
    } finally {
      SqliteLedger.open = open
    }
    await trainTiny(folder)
    expectSameAsReference(folder)
  })
})
