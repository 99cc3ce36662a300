import { describe, expect, test } from 'vitest'
import { InstantClock } from '../../test/faults/instant-clock.ts'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { type GivenSandbox, openToolbox } from '../execution/toolbox.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatFailure, ChatModel } from '../models/chat-model.ts'
import { openModel } from '../models/open-model.ts'
import { ModelRefusedError } from '../models/stop-error.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import { defaultSettings } from '../settings/execution.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import { type Check, selfCheck } from './self-check.ts'

async function checks(
  given: {
    set?: TaskSet
    model?: ChatModel
    budget?: BudgetSettings
    signal?: AbortSignal
    sandbox?: GivenSandbox
  } = {},
): Promise<Check[]> {
  const { set = tinyTaskSet as TaskSet, model = tinyModel, budget = {}, signal, sandbox = null } = given
  const parts = {
    set,
    model,
    tools: openToolbox(sandbox),
    settings: defaultSettings,
    limit: new CallLimit(8),
    clock: new InstantClock(),
  }
  const done: Check[] = []
  for await (const check of selfCheck({ parts, budget, ...(signal === undefined ? {} : { signal }) }))
    done.push(check)
  return done
}

const { scorer, splits } = tinyTaskSet as TaskSet
const withScorer = (change: Partial<TaskSet['scorer']>): TaskSet => ({
  ...(tinyTaskSet as TaskSet),
  scorer: { ...scorer, ...change },
})

/** Used where a check must fail before any call. */
const untouched: ChatModel = {
  identity: tinyModel.identity,
  ask: () => Promise.reject(new Error('The model was asked.')),
}

test('passing checks are listed, and the model is asked once', async () => {
  const model = modelAround((request, signal) => tinyModel.ask(request, signal))
  const done = await checks({
    model,
    set: { ...(tinyTaskSet as TaskSet), profile: { ...tinyTaskSet.profile, tools: [] } },
  })
  expect(done.map(({ name }) => name)).toEqual(['data', 'scorer', 'price', 'model'])
  expect(done[0]!.detail).toBe('24 in train, 16 in test')
  expect(done[1]!.detail).toBe('40 reference answers score 1, empty and unparseable ones 0')
  expect(model.calls).toBe(1)
})

describe('unavailable tools are listed with reason and remedy', () => {
  const set = {
    ...(tinyTaskSet as TaskSet),
    profile: { ...tinyTaskSet.profile, tools: ['calculator', 'python_exec', 'public_code'] },
  }
  const missing = new SandboxUnavailable('bubblewrap (bwrap) is not installed.')
  const remedy = 'Install bubblewrap and python3 (`npm run setup` as root); `magic doctor` checks them.'
  const told = async (sandbox: GivenSandbox) =>
    (await checks({ set, sandbox })).flatMap(({ name, detail, isLacking }) =>
      name === 'tools' ? [`${isLacking === true ? '!' : '✓'} ${detail}`] : [],
    )

  test('without a sandbox', async () => {
    expect(await told(missing)).toEqual([
      '✓ calculator',
      `! python_exec: off, because bubblewrap (bwrap) is not installed. ${remedy}`,
      `! public_code: off, because bubblewrap (bwrap) is not installed. ${remedy}`,
    ])
  })

  test('when none was requested', async () => {
    expect(await told(null)).toEqual([
      '✓ calculator',
      '! python_exec: off, because no sandbox was requested.',
      '! public_code: off, because no sandbox was requested.',
    ])
  })
})

describe('refused before spending anything', () => {
  test.each(['', 'this is no answer \u0000 {', null, {}])('a scorer that credits %j', async (worthless) => {
    const set = withScorer({
      score: async (answer, reference, means) =>
        JSON.stringify(answer) === JSON.stringify(worthless)
          ? { score: 1, parse: 'ok' }
          : scorer.score(answer, reference, means),
    })
    await expect(checks({ set, model: untouched })).rejects.toThrow(
      /^The worthless answer .* of task 'shelf-0' scores 1, not 0: the scorer of 'tiny' .*Nothing was spent/,
    )
  })

  test('a reference that does not score 1', async () => {
    const set = withScorer({ solution: () => ({ answer: '-1' }) })
    await expect(checks({ set, model: untouched })).rejects.toThrow(
      /^The reference answer of task 'shelf-0' scores 0, not 1/,
    )
  })

  test('a scorer that returns no number', async () => {
    const set = withScorer({ score: () => ({ score: Number.NaN, parse: 'ok' }) })
    await expect(checks({ set, model: untouched })).rejects.toThrow(/scores NaN, not 1/)
  })

  test('a task without a reference', async () => {
    const references = new Map(splits['test']!.references)
    references.delete('shelf-4')
    const set = { ...tinyTaskSet, splits: { ...splits, test: { ...splits['test']!, references } } } as TaskSet
    await expect(checks({ set, model: untouched })).rejects.toThrow(
      "Task 'shelf-4' of 'tiny', split 'test', has no reference answer.",
    )
  })

  test('an id in two splits, or twice in one', async () => {
    const leaked = { ...tinyTaskSet, splits: { ...splits, test: splits['train']! } } as TaskSet
    await expect(checks({ set: leaked, model: untouched })).rejects.toThrow(
      /^Task 'shelf-0' of 'tiny' appears in the splits 'train' and 'test': training tasks must not/,
    )
    const train = splits['train']!
    const doubled = { ...train, tasks: [...train.tasks, train.tasks[0]!] }
    const set = { ...tinyTaskSet, splits: { train: doubled } } as TaskSet
    await expect(checks({ set, model: untouched })).rejects.toThrow(/appears in split 'train' twice/)
  })

  test('no training questions', async () => {
    const set = { ...tinyTaskSet, splits: { test: splits['test']! } } as TaskSet
    await expect(checks({ set, model: untouched })).rejects.toThrow(/no tasks in its split 'train'/)
  })

  test('programs without a sandbox', async () => {
    const set = withScorer({ needsSandbox: () => true })
    await expect(checks({ set, model: untouched })).rejects.toThrow(
      /^40 answers of 'tiny' are programs, and there is no sandbox to run them in. Install bubblewrap/,
    )
  })

  test('a cost cap for a model without a price', async () => {
    const model = { ...untouched, identity: { provider: 'acme', model: 'large', options: {} } }
    await expect(checks({ budget: { cost: 5 }, model })).rejects.toThrow(
      /budget caps the cost, but there is no price for acme\/large. Set one under model.prices/,
    )
  })
})

test('the simulated model is free, so a cost cap is fine', async () => {
  const found = await checks({ budget: { cost: 5 } })
  expect(JSON.stringify(found)).toContain(
    'simulated/simulated costs nothing: the cap on cost cannot be reached',
  )
})

describe('a failing model', () => {
  test('with a bad key is reported as refusing', async () => {
    const refusal: ChatFailure = {
      ok: false,
      kind: 'unauthorized',
      message: 'HTTP 401: bad key',
      durationMs: 1,
    }
    const model = modelAround(async () => refusal)
    const checked = checks({ model })
    await expect(checked).rejects.toThrow(ModelRefusedError)
    await expect(checked).rejects.toThrow(/HTTP 401: bad key. Check the API key/)
    expect(model.calls).toBe(1)
  })

  test('that is unreachable is reported after all attempts', async () => {
    // Nothing listens on the discard port here.
    const model = openModel({ preset: 'vllm', model: 'm', baseURL: 'http://127.0.0.1:9/v1' }, {})
    await expect(checks({ model })).rejects.toThrow(/^The model does not answer \(network: .*`magic doctor`/)
    await model.close()
  })

  test('during an interruption ends with the reason', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const model = modelAround(async (request, signal) => {
      stop.abort(reason)
      return tinyModel.ask(request, signal)
    })
    await expect(checks({ model, signal: stop.signal })).rejects.toBe(reason)
  })
})
