import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultClient } from '../../test/faults/fault-client.ts'
import { type Fault, FaultServer, type NamedFault } from '../../test/faults/fault-server.ts'
import { InstantClock } from '../../test/faults/instant-clock.ts'
import { CallLimit } from './call-limit.ts'
import { type ChatModel, type ChatReply, paperDecoding } from './chat-model.ts'
import { stopsRun } from './failure.ts'
import type { OpenAICompatibleModel } from './http/openai-compatible.ts'
import { callModel, readRetryAfter } from './retry.ts'
import { addUsage, noUsage } from './usage.ts'

const request = { system: 's', user: 'u', decoding: paperDecoding }

let server: FaultServer
let model: OpenAICompatibleModel
beforeAll(async () => {
  server = await FaultServer.start()
  server.answer(() => ({ content: '{}', promptTokens: 100, completionTokens: 10, cachedTokens: 40 }))
  model = faultClient(server.url)
})
afterAll(async () => {
  await model.close()
  await server.close()
})

async function call(...script: Fault[]) {
  server.script(...script)
  const clock = new InstantClock()
  const made = await callModel(model, request, { clock })
  return { ...made, sleeps: clock.sleeps, requests: server.attempts.length }
}

describe('retried', () => {
  test.each<Fault>([
    '429',
    '500',
    '503',
    'reset',
    'truncate',
    'html',
    'empty',
    'error_in_200',
    'broken_gzip',
    'broken_json',
  ])('%s, then it works', async (fault) => {
    const { reply, attempts, sleeps } = await call(fault, fault, fault)
    expect(reply.ok).toBe(true)
    expect(attempts.map((attempt) => attempt.reply.ok)).toEqual([false, false, false, true])
    expect(sleeps).toEqual([1000, 2000, 4000])
  })

  test('at most three times', async () => {
    const { reply, requests, sleeps } = await call('500', '500', '500', '500', 'ok')
    expect(reply).toMatchObject({ ok: false, kind: 'server_error' })
    expect(requests).toBe(4)
    expect(sleeps).toEqual([1000, 2000, 4000])
  })

  test('a timeout', async () => {
    const hasty = faultClient(server.url, { deadlineMs: 100 })
    server.script('hang', 'drip')
    const { reply, attempts } = await callModel(hasty, request, { clock: new InstantClock() })
    await hasty.close()
    expect(attempts.slice(0, 2).map((attempt) => attempt.reply)).toMatchObject([
      { kind: 'timeout' },
      { kind: 'timeout' },
    ])
    expect(reply.ok || reply.kind === 'timeout').toBe(true)
  })

  test.each<Fault>(['400', '413', '418', '422'])('not %s', async (fault) => {
    const { reply, requests, sleeps } = await call(fault)
    expect(reply.ok).toBe(false)
    expect([requests, sleeps.length]).toEqual([1, 0])
    expect(!reply.ok && stopsRun(reply.kind)).toBe(false)
  })

  test.each<Fault>(['401', '402', '403', '404', 'redirect', 'quota_429', 'echo_key_in_error'])(
    'not %s, which stops the run',
    async (fault) => {
      const { reply, requests } = await call(fault)
      expect(requests).toBe(1)
      expect(!reply.ok && stopsRun(reply.kind)).toBe(true)
    },
  )
})

describe('Retry-After', () => {
  test('is obeyed from 0 to 60 s and otherwise ignored', async () => {
    const { sleeps } = await call('429_after_0', '429_after_60', '429_after_61')
    expect(sleeps).toEqual([0, 60_000, 4000])
  })

  const now = Date.UTC(2026, 10, 16, 12, 0, 0)
  test.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['3', 3000],
    [' 0.5 ', 500],
    ['60', 60_000],
    ['60.001', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['NaN', undefined],
    ['', undefined],
    ['99999999999999999999', undefined],
    ['Mon, 16 Nov 2026 12:00:30 GMT', 30_000],
    ['Mon, 16 Nov 2026 12:00:00 GMT', 0],
    ['Mon, 16 Nov 2026 11:59:59 GMT', undefined],
    ['Mon, 16 Nov 2026 13:00:00 GMT', undefined],
    ['2026', undefined],
    ['tomorrow', undefined],
  ])('%s', (header, ms) => {
    expect(readRetryAfter(header, now)).toBe(ms)
  })
})

describe('slots and cancellation', () => {
  test('the slot is free while waiting for the next attempt', async () => {
    const limit = new CallLimit(1)
    server.script('500')
    const held: number[] = []
    const clock = new InstantClock()
    const slept = clock.sleep.bind(clock)
    clock.sleep = (ms) => {
      held.push(limit.inFlight)
      return slept(ms)
    }
    await callModel(model, request, { limit, clock })
    expect(held).toEqual([0])
    expect(limit.inFlight).toBe(0)
  })

  test('cancelling while queued sends and counts nothing', async () => {
    server.script()
    const limit = new CallLimit(1)
    const release = await limit.acquire()
    const abort = new AbortController()
    const made = callModel(model, request, { limit, signal: abort.signal })
    abort.abort()
    expect(await made).toMatchObject({ reply: { kind: 'cancelled' }, attempts: [], usage: noUsage })
    expect(server.attempts).toEqual([])
    release!()
  })

  test('cancelling while waiting makes no further attempt', async () => {
    server.script('500')
    const abort = new AbortController()
    const clock = new InstantClock()
    clock.sleep = async () => abort.abort()
    const made = await callModel(model, request, { clock, signal: abort.signal })
    expect(made).toMatchObject({
      reply: { kind: 'cancelled' },
      usage: { calls: 1, attempts: 1, failedAttempts: 1 },
    })
    expect(server.attempts.length).toBe(1)
  })

  test('a model that throws despite its contract still releases its slot', async () => {
    const limit = new CallLimit(1)
    const broken: ChatModel = { ...({} as ChatModel), ask: () => Promise.reject(new Error('bug')) }
    await expect(callModel(broken, request, { limit })).rejects.toThrow('bug')
    expect(limit.inFlight).toBe(0)
  })
})

describe('accounting', () => {
  test('every attempt counts, including failed ones and those without usage', async () => {
    const { usage } = await call('no_choices', '500', 'broken_json')
    // no_choices reports usage; broken_json may be charged without reporting any; a 500 is not charged.
    expect(usage).toEqual({
      input: 200,
      cachedInput: 80,
      output: 20,
      calls: 1,
      attempts: 4,
      failedAttempts: 3,
      unknown: 1,
    })
  })

  test('an answer without usage is unknown, not free', async () => {
    const { usage } = await call('bad_usage')
    expect(usage).toMatchObject({ input: 0, output: 0, attempts: 1, failedAttempts: 0, unknown: 1 })
  })

  test("with half of five hundred calls failing, all end, and the sums match the server's log", async () => {
    const kinds: NamedFault[] = [
      '429',
      '500',
      'reset',
      'truncate',
      'broken_json',
      'empty',
      'no_usage',
      'no_choices',
      '404',
      'html',
    ]
    server.plan((number) => (number % 2 === 0 ? 'ok' : kinds[(number * 7) % kinds.length]!))
    const limit = new CallLimit(8)
    const calls = await Promise.all(
      Array.from({ length: 500 }, () => callModel(model, request, { limit, clock: new InstantClock() })),
    )
    const total = addUsage(...calls.map((made) => made.usage))
    const served = (...faults: Fault[]) =>
      server.attempts.filter(({ fault }) => faults.includes(fault)).length
    const told = served('ok', 'no_choices')
    expect(total).toEqual({
      calls: 500,
      attempts: server.attempts.length,
      failedAttempts: server.attempts.length - served('ok', 'no_usage'),
      input: 100 * told,
      cachedInput: 40 * told,
      output: 10 * told,
      unknown: served('reset', 'truncate', 'broken_json', 'empty', 'no_usage', 'html'),
    })
    const ended = (kind: string) => calls.filter(({ reply }) => outcome(reply) === kind).length
    expect(ended('ok')).toBe(served('ok', 'no_usage'))
    expect(ended('not_found')).toBe(served('404'))
  })
})

function outcome(reply: ChatReply): string {
  return reply.ok ? 'ok' : reply.kind
}
