import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Postgres } from '../../test/postgres/server.ts'
import { atomic } from '../../test/tiny-library.ts'
import { tinyExecutor } from '../../test/tiny-task-set.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { exitCode } from '../problem.ts'
import { slackMs } from '../store/allowance/allowance-store.ts'
import { LeaseLost, PostgresLedger } from '../store/ledger/postgres.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { Database } from '../store/postgres/database.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { openEvaluator } from '../training/training-evaluator.ts'
import { assignmentOf } from './assignment.ts'
import { workOverview } from './overview.ts'
import { RemoteEvaluations } from './remote-evaluations.ts'
import { runWorker, type WorkerOptions } from './worker.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(() => postgres.stop())

const { parts } = tinyExecutor()
const [first, second] = parts.set.library.roles.map(({ id }) => id) as [string, string]
const one = AgentGraph.empty.add(atomic(first))
const two = one.add(atomic(second, [0]))
const three = two.add(atomic(first, [0, 1]))

/** A database with a ledger and everything opened on it. */
async function world(settings: Partial<ExecutorParts['settings']> = {}) {
  const theirs = { ...parts, settings: { ...parts.settings, ...settings } }
  const closing = new AsyncDisposableStack()
  const address = new PostgresAddress(await postgres.database())
  const open = async () =>
    closing.adopt(await Database.open(address, { connections: 12 }), (one) => one.close())
  const database = await open()
  const namespace = randomUUID()
  await PostgresLedger.create(database, namespace, 'test')
  const ledger = await PostgresLedger.open(database, { name: namespace })
  const said: string[] = []
  const remote = closing.adopt(
    await RemoteEvaluations.open({
      ...{ database, ledger, namespace, assignment: assignmentOf(theirs, undefined) },
      say: (text) => said.push(text),
    }),
    (one) => one.close(),
  )
  const work = async (model: ChatModel, options: Partial<WorkerOptions> = {}) => {
    const drain = new AbortController()
    const worker = runWorker({
      ...{ database: await open(), name: 'a worker', calls: 4, leaseSeconds: 120, drain: drain.signal },
      open: async (_, { limit }) => ({ parts: { ...theirs, model, limit }, close: async () => {} }),
      ...options,
    })
    closing.defer(async () => {
      drain.abort()
      await worker
    })
    return { drain, worker }
  }
  const evaluator = openEvaluator({ parts, ledger, requestReuse: true, make: remote.make })
  return {
    database,
    namespace,
    ledger,
    remote,
    evaluator,
    work,
    said,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const pairs = ['shelf-0', 'boxes-0', 'tickets-0', 'garden-0'].flatMap((task) =>
  [one, two, three].map((graph) => [graph, task] as const),
)

test('workers make the same evaluations as one process, with the same number of calls', async () => {
  const counted = modelAround((request, signal) => tinyModel.ask(request, signal))
  const alone = openEvaluator({
    ...{
      parts: { ...parts, model: counted },
      ledger: await SqliteLedger.open(':memory:'),
      requestReuse: true,
    },
  })
  const expected = await Promise.all(pairs.map(([graph, task]) => alone.evaluate(graph, task)))
  await using there = await world()
  const elsewhere = modelAround((request, signal) => tinyModel.ask(request, signal))
  for (const name of ['one', 'two', 'three']) await there.work(elsewhere, { name })
  const scores = await Promise.all(pairs.map(([graph, task]) => there.evaluator.evaluate(graph, task)))
  expect(scores).toEqual(expected)
  expect(elsewhere.calls).toBe(counted.calls)
  const [here, remote] = [alone.take(), there.evaluator.take()]
  for (const field of ['made', 'known', 'cost'] as const) expect(remote[field]).toEqual(here[field])
  for (const field of ['calls', 'attempts', 'input', 'output'] as const) {
    expect(remote.usage[field]).toBe(here.usage[field])
    expect(remote.reused[field]).toBe(here.reused[field])
  }
  // Known from now on.
  await Promise.all(pairs.map(([graph, task]) => there.evaluator.evaluate(graph, task)))
  expect(elsewhere.calls).toBe(counted.calls)
  expect(there.evaluator.take()).toMatchObject({ made: 0, known: pairs.length })
})

test('a worker with another model refuses by name, and the trainer reports it', async () => {
  await using there = await world()
  const other = { ...tinyModel.identity, model: 'another' }
  const { drain, worker } = await there.work(
    { identity: other, ask: tinyModel.ask.bind(tinyModel) },
    { name: 'stranger' },
  )
  const score = there.evaluator.evaluate(one, 'shelf-0')
  const said = async (text: string) => {
    while (!there.said.some((one) => one.includes(text))) await sleep(50)
  }
  await said('No other worker is there.')
  expect(there.said.join(' ')).toMatch(/Worker stranger refuses this run: it calls .*another, the run /)
  expect(await there.remote.capacity()).toBe(0)
  expect((await workOverview(there.database)).refusals).toMatchObject([{ worker: 'stranger' }])
  // When it is gone, its refusal is gone too.
  drain.abort()
  await worker
  expect((await workOverview(there.database)).refusals).toEqual([])
  await there.work(tinyModel, { name: 'fitting' })
  await score
})

test('a refusing model stops the trainer with the same message and exit code as in one process', async () => {
  await using there = await world()
  const refusing = modelAround(async () => ({
    ok: false,
    kind: 'unauthorized',
    message: 'No.',
    durationMs: 1,
  }))
  await there.work(refusing)
  const failed = await there.evaluator.evaluate(two, 'shelf-0').catch((error: unknown) => error)
  expect(failed).toMatchObject({ exitCode: exitCode.refused })
  expect(String(failed)).toMatch(/unauthorized.*a worker/s)
})

test('a worker without a lease writes no evaluation, but its costs stay on record', async () => {
  await using there = await world()
  const memory = await SqliteLedger.open(':memory:')
  const alone = openEvaluator({ parts, ledger: memory, requestReuse: true })
  await alone.evaluate(one, 'shelf-0')
  const { value: entry } = await memory.entries()[Symbol.asyncIterator]().next()
  const trace = (await memory.findTrace(entry.evaluation.execution))!
  const zombie = await PostgresLedger.open(there.database, { name: there.namespace, lease: 'long gone' })
  await expect(zombie.keep(entry.key, entry.evaluation, trace)).rejects.toThrow(LeaseLost)
  expect(await there.ledger.find(entry.key)).toBeUndefined()
  expect(await there.ledger.findTrace(trace.execution)).toEqual(trace)
})

test('a drained worker finishes its work and leaves the rest to others', async () => {
  await using there = await world()
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = modelAround(async (request, signal) => {
    begun.resolve()
    await goOn.promise
    return tinyModel.ask(request, signal)
  })
  const { drain, worker } = await there.work(slow, { name: 'leaving' })
  const first = there.evaluator.evaluate(one, 'shelf-0')
  await begun.promise
  drain.abort()
  goOn.resolve()
  await first
  await worker
  expect((await workOverview(there.database)).workers).toEqual([])
  const second = there.evaluator.evaluate(two, 'boxes-0')
  await there.work(tinyModel, { name: 'next' })
  await second
  const { workers, queue } = await workOverview(there.database)
  expect(workers).toMatchObject([{ name: 'next', state: 'working', calls: 4 }])
  expect(queue.waiting).toBe(0)
})

test('a call slot is not reused until its answer is kept', async () => {
  await using there = await world()
  const counted = modelAround((request, signal) => tinyModel.ask(request, signal))
  await there.work(counted, { calls: 1 })
  const client = await there.database.pool.connect()
  await client.query('BEGIN; LOCK TABLE magic.replies IN EXCLUSIVE MODE')
  const scores = Promise.all(['shelf-0', 'boxes-0'].map((task) => there.evaluator.evaluate(one, task)))
  try {
    while (counted.calls === 0) await sleep(20)
    await sleep(500)
    expect(counted.calls).toBe(1)
  } finally {
    await client.query('COMMIT')
    client.release()
  }
  await scores
  expect(counted.calls).toBeGreaterThan(1)
})

test('while PostgreSQL is down longer than a lease, no work changes hands and no call is repeated', async () => {
  await using there = await world()
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const asked: string[] = []
  const slow = modelAround(async (request, signal) => {
    asked.push(JSON.stringify(request))
    begun.resolve()
    await goOn.promise
    return tinyModel.ask(request, signal)
  })
  const said: string[] = []
  const leaseSeconds = 2
  for (const name of ['one', 'two'])
    await there.work(slow, { name, leaseSeconds, say: (text) => said.push(text) })
  const scores = Promise.all(pairs.map(([graph, task]) => there.evaluator.evaluate(graph, task)))
  await begun.promise
  await postgres.halt()
  await sleep(1500 * leaseSeconds)
  // Answers arrive while they cannot be stored.
  goOn.resolve()
  await postgres.restart()
  await scores
  expect(new Set(asked).size).toBe(asked.length)
  expect(said.filter((text) => text.includes('lease'))).toEqual([])
})

test("all workers together stay within the run's rate limit", async () => {
  const requestsPerMinute = 1200
  await using there = await world({ requestsPerMinute })
  const counted = modelAround((request, signal) => tinyModel.ask(request, signal))
  for (const name of ['one', 'two']) await there.work(counted, { name })
  const start = performance.now()
  await Promise.all(pairs.map(([graph, task]) => there.evaluator.evaluate(graph, task)))
  // However slow the machine, it cannot have been faster.
  const turnMs = 60_000 / requestsPerMinute
  expect(counted.calls).toBeGreaterThan(slackMs / turnMs + 1)
  expect(performance.now() - start).toBeGreaterThanOrEqual((counted.calls - 1) * turnMs - slackMs)
})
