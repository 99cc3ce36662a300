import { expect, test } from 'vitest'
import { InstantClock } from '../../test/faults/instant-clock.ts'
import { atomic } from '../../test/tiny-library.ts'
import { tinyExecutor } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatFailure, ChatModel } from '../models/chat-model.ts'
import { ModelRefusedError, ModelUnreachableError } from '../models/stop-error.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { openEvaluator } from './training-evaluator.ts'

const { parts } = tinyExecutor()
const [first, second] = parts.set.library.roles.map(({ id }) => id) as [string, string]
const one = AgentGraph.empty.add(atomic(first))
const two = one.add(atomic(second, [0]))
const failure = (kind: ChatFailure['kind']): ChatFailure => ({ ok: false, kind, message: 'x', durationMs: 1 })

async function evaluatorOn(
  model: ChatModel,
  { requestReuse = true, signal }: { requestReuse?: boolean; signal?: AbortSignal } = {},
) {
  const ledger = await SqliteLedger.open(':memory:')
  const given = { ...parts, model, clock: new InstantClock(), limit: new CallLimit(4) }
  const options = signal === undefined ? {} : { signal }
  return { ledger, evaluator: openEvaluator({ parts: given, ledger, requestReuse, ...options }) }
}

test('evaluations in the ledger are not repeated, and graphs share identical requests', async () => {
  const model = modelAround((request, signal) => tinyModel.ask(request, signal))
  const { evaluator } = await evaluatorOn(model)
  const short = await evaluator.evaluate(one, 'shelf-0')
  const calls = model.calls
  expect(await evaluator.evaluate(one, 'shelf-0')).toEqual(short)
  expect(model.calls).toBe(calls)
  const long = await evaluator.evaluate(two, 'shelf-0')
  const { made, known, usage, reused } = evaluator.take()
  expect({ made, known }).toEqual({ made: 2, known: 1 })
  expect(usage.calls).toBe(model.calls)
  // The first unit's calls are the same in both graphs.
  expect(reused.calls).toBeGreaterThan(0)
  // A graph's reported usage does not depend on who paid for it.
  expect(long.usage!.calls).toBe(model.calls - calls + reused.calls)
  expect(evaluator.take()).toMatchObject({ made: 0, known: 0, usage: { calls: 0 } })
})

test('without request reuse graphs share nothing, and score the same', async () => {
  const shared = (await evaluatorOn(tinyModel)).evaluator
  const apart = (await evaluatorOn(tinyModel, { requestReuse: false })).evaluator
  for (const graph of [one, two])
    expect(await apart.evaluate(graph, 'shelf-0')).toEqual(await shared.evaluate(graph, 'shelf-0'))
  expect(apart.take().reused.calls).toBe(0)
})

test('an execution spoiled by transport failures is repeated without asking answered calls again', async () => {
  const calm = modelAround((request, signal) => tinyModel.ask(request, signal))
  const undisturbed = await (await evaluatorOn(calm)).evaluator.evaluate(two, 'shelf-0')
  let failing = 0
  // The last call fails for all four attempts of one round and two of the next.
  const model = modelAround((request, signal, number) => {
    if (number < calm.calls || failing === 6) return tinyModel.ask(request, signal)
    failing += 1
    return Promise.resolve(failure('server_error'))
  })
  const { evaluator, ledger } = await evaluatorOn(model)
  expect(await evaluator.evaluate(two, 'shelf-0')).toEqual(undisturbed)
  expect(failing).toBe(6)
  expect(model.calls).toBe(calm.calls + 6)
  // The spoiled execution is not an evaluation, but its trace is kept.
  expect(await ledger.size()).toMatchObject({ evaluations: 1, traces: 2, replies: calm.calls })
})

test('repeated transport failures end with the remedy', async () => {
  const model = modelAround(() => Promise.resolve(failure('network')))
  const { evaluator, ledger } = await evaluatorOn(model)
  const evaluated = evaluator.evaluate(AgentGraph.empty, 'shelf-0')
  await expect(evaluated).rejects.toThrow(ModelUnreachableError)
  await expect(evaluated).rejects.toThrow(/for task 'shelf-0'.*network: x.*resume/)
  // Three rounds of four attempts.
  expect(model.calls).toBe(12)
  expect(await ledger.size()).toMatchObject({ evaluations: 0, traces: 3, replies: 0 })
})

test('graphs that share a rejected request all get a result, with equal usage', async () => {
  const model = modelAround(async (request, signal) => {
    await new Promise(setImmediate)
    return request.user.includes('"part":"finalizer"') || request.isControl === true
      ? tinyModel.ask(request, signal)
      : failure('rejected')
  })
  const { evaluator, ledger } = await evaluatorOn(model)
  const others = parts.set.library.roles.slice(1)
  const graphs = others.flatMap(({ id }) => [one.add(atomic(id)), one.add(atomic(id, [0]))])
  const evaluated = await Promise.all(graphs.map((graph) => evaluator.evaluate(graph, 'shelf-0')))
  expect(new Set(evaluated.map(({ usage }) => usage!.calls))).toEqual(new Set([3]))
  expect(await ledger.size()).toMatchObject({ evaluations: graphs.length, traces: graphs.length })
})

test('a refused question is a result, even if it is the only one asked', async () => {
  const model = modelAround(async (request, signal) =>
    request.user.includes('shelf') ? failure('rejected') : tinyModel.ask(request, signal),
  )
  const { evaluator, ledger } = await evaluatorOn(model)
  expect((await evaluator.evaluate(two, 'shelf-0')).score).toBe(0)
  expect(await ledger.size()).toMatchObject({ evaluations: 1, replies: 0 })
})

test('an endpoint that rejects everything stops everything, and nothing is stored', async () => {
  const model = modelAround(async (request, signal, number) => {
    await new Promise(setImmediate)
    return number <= 6 ? tinyModel.ask(request, signal) : failure('rejected')
  })
  const { evaluator, ledger } = await evaluatorOn(model)
  const tasks = ['shelf-0', 'boxes-0', 'tickets-0', 'garden-0', 'ferry-0', 'pages-0']
  const evaluated = await Promise.allSettled(tasks.map((task) => evaluator.evaluate(two, task)))
  await evaluator.ended()
  const { evaluations } = await ledger.size()
  expect(evaluated.filter(({ status }) => status === 'fulfilled').length).toBe(evaluations)
  for (const one of evaluated)
    if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(ModelUnreachableError)
  for await (const { evaluation } of ledger.entries()) expect(evaluation.failures).toEqual([])
  // Four in flight, a control call, and one for requests rejected after it started.
  expect(model.calls).toBeLessThanOrEqual(6 + 4 + 2)
})

test('an authorization failure stops everything at once', async () => {
  const model = modelAround(async (request, signal, number) => {
    await new Promise(setImmediate)
    return number <= 6 ? tinyModel.ask(request, signal) : failure('unauthorized')
  })
  const { evaluator, ledger } = await evaluatorOn(model)
  const tasks = ['shelf-0', 'boxes-0', 'tickets-0', 'garden-0', 'ferry-0', 'pages-0']
  const evaluated = await Promise.allSettled(tasks.map((task) => evaluator.evaluate(two, task)))
  await evaluator.ended()
  for (const { status, reason } of evaluated.filter(
    ({ status }) => status === 'rejected',
  ) as PromiseRejectedResult[])
    expect({ status, reason }).toEqual({ status: 'rejected', reason: expect.any(ModelRefusedError) })
  expect(evaluated.some(({ status }) => status === 'rejected')).toBe(true)
  // Four calls may be in flight.
  expect(model.calls).toBeLessThanOrEqual(6 + 4)
  expect((await ledger.size()).replies).toBe(6)
  await expect(evaluator.evaluate(one, 'shelf-1')).rejects.toThrow(ModelRefusedError)
})

test('a signal ends it with its reason, and answered calls are in the ledger', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const model = modelAround(async (request, signal, number) => {
    if (number <= 4) return tinyModel.ask(request, signal)
    await new Promise(setImmediate)
    stop.abort(reason)
    return tinyModel.ask(request, signal)
  })
  const { evaluator, ledger } = await evaluatorOn(model, { signal: stop.signal })
  const tasks = ['shelf-0', 'boxes-0', 'tickets-0']
  const evaluated = await Promise.allSettled(tasks.map((task) => evaluator.evaluate(two, task)))
  await evaluator.ended()
  expect(evaluated.every((one) => one.status === 'rejected' && one.reason === reason)).toBe(true)
  expect((await ledger.size()).replies).toBe(4)
})

test('each call in a pool of models has its own model’s price, made or reused', async () => {
  const taken: Record<string, number> = { own: 0, dear: 0 }
  const counting = (name: string, identity = tinyModel.identity): ChatModel => ({
    identity,
    async ask(request, signal) {
      const reply = await tinyModel.ask(request, signal)
      taken[name]! += reply.usage?.input ?? 0
      return reply
    },
  })
  const models = { dear: counting('dear', { provider: 'simulated', model: 'dear', options: {} }) }
  const price = { currency: 'CNY', asOf: '2026-01', source: 'test', input: 1, cachedInput: 1, output: 0 }
  const prices = {
    [`${tinyModel.identity.provider}/${tinyModel.identity.model}`]: price,
    'simulated/dear': { ...price, input: 100, cachedInput: 100 },
  }
  const openWith = async (given: typeof prices | object) => {
    const settings = { ...parts.settings, prices: given as typeof prices }
    const pool = { ...parts, model: counting('own'), models, settings }
    return openEvaluator({ parts: pool, ledger: await SqliteLedger.open(':memory:'), requestReuse: true })
  }
  const dearOnce = AgentGraph.empty.add({ ...atomic(first), model: 'dear' })
  const evaluator = await openWith(prices)
  const { cost } = await evaluator.evaluate(dearOnce, 'shelf-0')
  expect(taken['own']).toBeGreaterThan(0)
  expect(taken['dear']).toBeGreaterThan(0)
  expect(cost).toBeCloseTo((taken['own']! + 100 * taken['dear']!) / 1e6, 12)
  const before = { ...taken }
  // The unit is known from the previous graph; its cost counts again as if it had not been.
  const longer = await evaluator.evaluate(dearOnce.add(atomic(second, [0])), 'shelf-0')
  expect(taken['dear']).toBe(before['dear'])
  const now = taken['own']! - before['own']!
  expect(longer.cost).toBeCloseTo((now + 100 * taken['dear']!) / 1e6, 12)
  const { 'simulated/dear': _, ...unpriced } = prices
  expect((await (await openWith(unpriced)).evaluate(dearOnce, 'shelf-0')).cost).toBeUndefined()
})
