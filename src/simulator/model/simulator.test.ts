import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstantClock } from '../../../test/faults/instant-clock.ts'
import { contractOf, questions } from '../../../test/simulated/questions.ts'
import { requestOf, userMessage } from '../../../test/simulated/requests.ts'
import { paperDecoding } from '../../models/chat-model.ts'
import { latencyOf, usageOf } from './call-cost.ts'
import { costConstants } from './constants.ts'
import { questionKinds } from './question-kind.ts'
import { SimulatedModel } from './simulator.ts'

const tasks = questionKinds.flatMap((kind) => questions(kind, 10))
const requests = questionKinds.flatMap((kind) =>
  questions(kind, 10).map(({ task }) => requestOf(userMessage(task, contractOf[kind]))),
)

test('the same request gets the same reply, regardless of earlier ones', async () => {
  const one = new SimulatedModel({ tasks, seed: 5 })
  const other = new SimulatedModel({ tasks, seed: 5 })
  const said = new Map<string, unknown>()
  for (const request of requests) said.set(request.user, { ...(await one.ask(request)), durationMs: 0 })
  for (const request of requests.toReversed())
    expect({ ...(await other.ask(request)), durationMs: 0 }).toEqual(said.get(request.user))
})

test('another seed gives other answers and another identity', async () => {
  const [one, other] = [new SimulatedModel({ tasks, seed: 1 }), new SimulatedModel({ tasks, seed: 2 })]
  let differing = 0
  for (const request of requests) {
    const [first, second] = [await one.ask(request), await other.ask(request)]
    if (first.ok && second.ok && first.text !== second.text) differing += 1
  }
  expect(differing).toBeGreaterThan(requests.length / 4)
  expect(one.identity).not.toEqual(other.identity)
  expect(one.identity).not.toEqual(new SimulatedModel({ tasks: tasks.slice(1), seed: 1 }).identity)
  expect(one.identity).toEqual(new SimulatedModel({ tasks, seed: 1 }).identity)
})

test('usage depends on the lengths; the system prompt may be cached in whole blocks', async () => {
  const model = new SimulatedModel({ tasks })
  const system = 'x'.repeat(1000)
  let cached = 0
  for (const { user } of requests) {
    const reply = await model.ask({ system, user, decoding: paperDecoding })
    if (!reply.ok || reply.usage === undefined) throw new Error('no usage')
    expect(reply.usage.input).toBe(250 + Math.ceil(user.length / 4) + costConstants.frame)
    expect(reply.usage.output).toBe(Math.ceil(reply.text.length / 4))
    expect([0, 192]).toContain(reply.usage.cachedInput)
    if (reply.usage.cachedInput > 0) cached += 1
  }
  expect(cached / requests.length).toBeGreaterThan(0.6)
  expect(cached).toBeLessThan(requests.length)
  expect(usageOf('', 'u', 't').cachedInput).toBe(0)
})

test('an answer beyond the output limit is cut there', async () => {
  const model = new SimulatedModel({ tasks })
  const { user } = requests[0]!
  const reply = await model.ask({ system: '', user, decoding: { ...paperDecoding, maxOutputTokens: 10 } })
  expect(reply).toMatchObject({ ok: true, finish: 'length', usage: { output: 10 } })
  expect(reply.ok && reply.text).toHaveLength(40)
})

test("latency is zero by default, else depends on the answer's length, and is reproducible", async () => {
  const [user, shorter] = [requests[0]!.user, requests[1]!.user]
  expect(latencyOf(100, 120, '', user)).toBe(latencyOf(100, 120, '', user))
  expect(latencyOf(100, 240, '', user)).toBeGreaterThan(latencyOf(100, 120, '', user))
  expect(Math.abs(latencyOf(100, costConstants.typicalOutput, '', shorter) - 100)).toBeLessThanOrEqual(20)
  const clock = new InstantClock()
  await new SimulatedModel({ tasks }, clock).ask(requests[0]!)
  expect(clock.sleeps).toEqual([])
  const reply = await new SimulatedModel({ tasks, latencyMs: 500 }, clock).ask(requests[0]!)
  expect(clock.sleeps).toHaveLength(1)
  expect(reply.durationMs).toBe(clock.sleeps[0])
  expect(reply.durationMs).toBeGreaterThan(100)
})

test('cancellation works before and during a call', async () => {
  const model = new SimulatedModel({ tasks, latencyMs: 60_000 })
  expect(await model.ask(requests[0]!, AbortSignal.abort())).toMatchObject({ ok: false, kind: 'cancelled' })
  const controller = new AbortController()
  const asked = model.ask(requests[0]!, controller.signal)
  controller.abort()
  expect(await asked).toMatchObject({ ok: false, kind: 'cancelled' })
})

test('a foreign request is refused with the reason', async () => {
  const model = new SimulatedModel()
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const nested = `{"protocol":"analysis-answer-v2","executor":{"id":"a","role":"b","part":"atomic"},"task":{"question":"q","tables":${deep}},"predecessors":[{"answer":${deep}}]}`
  for (const user of [
    '',
    'Hello',
    '{',
    'null',
    '[]',
    '{"protocol":"other"}',
    '{"__proto__":{"protocol":"analysis-answer-v2"}}',
    deep,
  ]) {
    const reply = await model.ask(requestOf(user))
    expect(reply.ok && JSON.parse(reply.text)).toMatchObject({ answer: null })
  }
  const plain = await model.ask({ ...requestOf('Hello'), decoding: { ...paperDecoding, json: false } })
  expect(plain.ok && plain.text).toMatch(/^This is the simulated model/)
  expect(await model.ask(requestOf(nested))).toMatchObject({
    ok: true,
    text: expect.stringContaining('does not know'),
  })
})

test('requests with arbitrary fields are answered', async () => {
  const model = new SimulatedModel({ tasks, seed: 1 })
  const usual = requests.map(({ user }) => JSON.parse(user) as Record<string, unknown>)
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('ok', 'true', '7', 'A', 'table_reader'))
  const message = fc.dictionary(
    fc.constantFrom('role', 'status', 'analysis', 'answer', 'tool_observation'),
    value,
  )
  const changes = fc.record(
    {
      executor: fc.record({
        id: value,
        role: value,
        part: fc.constantFrom('atomic', 'worker', 'aggregator', 'finalizer'),
      }),
      answer_requirement: fc.oneof(
        fc.string(),
        fc.jsonValue().map((one) => `for example: ${JSON.stringify(one)}`),
      ),
      predecessors: fc.oneof(value, fc.array(fc.oneof(message, value))),
      tools: fc.oneof(value, fc.constant([{ name: 'calculator' }, { name: 'table_reader' }, { name: 7 }])),
      tool_request: value,
      tool_observation: value,
      task: fc.record({
        question: fc.string({ minLength: 1 }),
        options: value,
        tables: value,
        program: value,
      }),
      repair: value,
      concise: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...usual), changes, async (request, change) => {
      const reply = await model.ask(requestOf(JSON.stringify({ ...request, ...change })))
      expect(reply.ok && typeof JSON.parse(reply.text)).toBe('object')
    }),
    { numRuns: 500 },
  )
})

test('a huge request is answered', async () => {
  const many = Array.from({ length: 50_000 }, (_, index) => ({
    role: 'x',
    status: 'ok',
    analysis: '',
    answer: String(index),
  }))
  const request = { ...(JSON.parse(requests[25]!.user) as object), predecessors: many, tools: many }
  const reply = await new SimulatedModel({ tasks }).ask(requestOf(JSON.stringify(request)))
  expect(reply.ok).toBe(true)
})
