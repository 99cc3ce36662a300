import { inspect } from 'node:util'
import { Pool } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { faultClient } from '../../../test/faults/fault-client.ts'
import { type Fault, FaultServer } from '../../../test/faults/fault-server.ts'
import { isReleased, rememberingSignal } from '../../../test/released.ts'
import { type ChatRequest, paperDecoding } from '../chat-model.ts'
import type { FailureKind } from '../failure.ts'
import { ApiKey } from '../secret.ts'
import { post } from './http-exchange.ts'
import type { EndpointSettings, OpenAICompatibleModel } from './openai-compatible.ts'

const canary = 'sk-canary/7+"Zurich"=='
const request: ChatRequest = { system: 'Be brief.', user: '{"question":"?"}', decoding: paperDecoding }

let server: FaultServer
const models: OpenAICompatibleModel[] = []

function open(settings: Partial<EndpointSettings> = {}): OpenAICompatibleModel {
  const model = faultClient(server.url, {
    apiKey: new ApiKey(canary, new URL(server.url).origin),
    thinkingOff: { thinking: { type: 'disabled' } },
    ...settings,
  })
  models.push(model)
  return model
}

beforeAll(async () => {
  server = await FaultServer.start()
})
afterEach(async () => {
  for (const model of models.splice(0)) await model.close()
})
afterAll(() => server.close())

test('an ended exchange is not kept alive by its removed listener', async () => {
  server.script()
  const { origin, pathname } = new URL(`${server.url}/chat/completions`)
  const pool = new Pool(origin)
  const { signal, listeners } = rememberingSignal()
  const asked = await (async () => {
    const exchange = post(pool, pathname, {}, '{}', { deadlineMs: 60_000, maxBodyBytes: 1e6 }, signal)
    expect(await exchange).toMatchObject({ status: 200 })
    return new WeakRef(exchange)
  })()
  expect(await isReleased(asked)).toBe(true)
  expect(listeners).toHaveLength(1)
  await pool.close()
})

test('sends this request', async () => {
  server.script()
  const reply = await open({ extraBody: { seed: 7 } }).ask(request)
  expect(reply).toMatchObject({
    ok: true,
    text: '{"analysis":"x","answer":"A"}',
    finish: 'stop',
    warnings: [],
  })
  expect(reply).toMatchObject({ servedModel: 'served', usage: { cachedInput: 0, output: 9 } })
  const [attempt] = server.attempts
  expect(attempt).toMatchObject({ method: 'POST', path: '/v1/chat/completions' })
  expect(attempt!.headers).toMatchObject({
    authorization: `Bearer ${canary}`,
    'content-type': 'application/json',
  })
  expect(JSON.parse(attempt!.body)).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '{"question":"?"}' },
    ],
    temperature: 0,
    max_tokens: 2048,
    response_format: { type: 'json_object' },
    thinking: { type: 'disabled' },
    seed: 7,
    stream: false,
  })
})

test('other decoding: thinking on, plain text, another name for the limit', async () => {
  server.script()
  const decoding = { temperature: 1, maxOutputTokens: 10, thinking: true, json: false }
  await open({ outputLimit: 'max_completion_tokens' }).ask({ ...request, decoding })
  const body = JSON.parse(server.attempts[0]!.body)
  expect(body).toMatchObject({ temperature: 1, max_completion_tokens: 10 })
  expect(body).not.toHaveProperty('thinking')
  expect(body).not.toHaveProperty('response_format')
  expect(body).not.toHaveProperty('max_tokens')
})

describe('every fault, asked once', () => {
  const outcomes: [Fault, FailureKind][] = [
    ['400', 'rejected'],
    ['401', 'unauthorized'],
    ['402', 'payment_required'],
    ['403', 'forbidden'],
    ['404', 'not_found'],
    ['408', 'server_error'],
    ['413', 'rejected'],
    ['418', 'rejected'],
    ['422', 'rejected'],
    ['429', 'rate_limited'],
    ['429_after_7', 'rate_limited'],
    ['500', 'server_error'],
    ['503', 'server_error'],
    ['quota_429', 'quota_exhausted'],
    ['quota_in_200', 'quota_exhausted'],
    ['echo_key_in_error', 'unauthorized'],
    ['reset', 'network'],
    ['truncate', 'network'],
    ['truncate_chunked', 'network'],
    ['huge_body', 'bad_response'],
    ['gzip_bomb', 'bad_response'],
    ['broken_gzip', 'bad_response'],
    ['not_gzip', 'bad_response'],
    ['odd_encoding', 'bad_response'],
    ['html', 'bad_response'],
    ['empty', 'bad_response'],
    ['no_content', 'bad_response'],
    ['error_in_200', 'bad_response'],
    ['error_in_choice', 'bad_response'],
    ['broken_json', 'bad_response'],
    ['not_utf8', 'bad_response'],
    ['no_choices', 'bad_response'],
    ['proto_body', 'bad_response'],
    ['redirect', 'redirected'],
  ]
  test.each(outcomes)('%s: %s', async (fault, kind) => {
    server.script(fault)
    const reply = await open().ask(request)
    expect(reply).toMatchObject({ ok: false, kind })
    expect(server.attempts.map((attempt) => attempt.path)).toEqual(['/v1/chat/completions'])
    expectNoCanary(reply)
  })

  test.each<Fault>(['wrong_type', 'no_type'])('%s: a completion is still an answer', async (fault) => {
    server.script(fault)
    expect(await open().ask(request)).toMatchObject({ ok: true, text: '{"analysis":"x","answer":"A"}' })
  })

  test.each<Fault>(['hang', 'hang_body', 'drip', 'drip_headers'])(
    '%s: ends at its deadline',
    async (fault) => {
      server.script(fault)
      expect(await open({ deadlineMs: 100 }).ask(request)).toMatchObject({ ok: false, kind: 'timeout' })
    },
  )

  test('an error with a hanging body is still that error', async () => {
    server.script('hang_error_body')
    expect(await open({ deadlineMs: 100 }).ask(request)).toMatchObject({ kind: 'unauthorized', status: 401 })
  })

  test('nothing is listening', async () => {
    const closed = await FaultServer.start()
    const baseURL = new URL(closed.url)
    await closed.close()
    const reply = await open({ baseURL, apiKey: new ApiKey(canary, baseURL.origin) }).ask(request)
    expect(reply).toMatchObject({
      ok: false,
      kind: 'network',
      message: expect.stringContaining('ECONNREFUSED'),
      // So nothing can have been charged.
      unsent: true,
    })
  })

  test("the server's message is kept without control characters, along with Retry-After", async () => {
    server.script('422', '429_after_7')
    const model = open()
    expect(await model.ask(request)).toMatchObject({ message: 'HTTP 422: invalid parameter', status: 422 })
    expect(await model.ask(request)).toMatchObject({ message: 'HTTP 429: slow down', retryAfter: '7' })
  })

  test('usage is counted on failure too, if the server reports it', async () => {
    server.script('no_choices')
    const reply = await open().ask(request)
    expect(reply).toMatchObject({ ok: false, usage: { input: server.attempts[0]!.body.length, output: 9 } })
  })

  test('nothing reached the prototype', () => {
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('answers with warnings', () => {
  test.each<[Fault, object]>([
    ['gzip', { text: '{"analysis":"x","answer":"A"}', warnings: [] }],
    ['cut_off', { finish: 'length', warnings: [] }],
    ['null_content', { text: '', warnings: [] }],
    ['thinking', { warnings: ['thinking'] }],
    ['no_usage', { warnings: ['usage_missing'] }],
    ['null_usage', { warnings: ['usage_missing'] }],
    ['bad_usage', { warnings: ['usage_invalid'] }],
  ])('%s', async (fault, expected) => {
    server.script(fault)
    const reply = await open().ask(request)
    expect(reply).toMatchObject({ ok: true, ...expected })
    expect(reply.usage !== undefined).toBe(!fault.includes('usage'))
  })

  test('requested thinking is no warning', async () => {
    server.script('thinking')
    const decoding = { ...paperDecoding, thinking: true }
    expect(await open().ask({ ...request, decoding })).toMatchObject({ ok: true, warnings: [] })
  })

  test('constant usage is reported', async () => {
    server.script()
    server.answer(() => ({ content: '{}', promptTokens: 10, completionTokens: 10 }))
    const model = open()
    const warnings: string[] = []
    for (let i = 0; i < 9; i += 1) {
      const reply = await model.ask({ ...request, user: 'x'.repeat(100 * i) })
      if (reply.ok) warnings.push(reply.warnings.join())
    }
    server.answer((body) => ({ content: '{}', promptTokens: body.length, completionTokens: 9 }))
    expect(warnings).toEqual(['', '', '', '', '', '', '', 'usage_constant', 'usage_constant'])
    const honest = open()
    for (let i = 0; i < 9; i += 1)
      expect(await honest.ask({ ...request, user: 'x'.repeat(100 * i) })).toMatchObject({ warnings: [] })
  })
})

describe('cancellation', () => {
  test.each<Fault>(['hang', 'hang_body', 'drip'])('during %s', async (fault) => {
    server.script(fault)
    const abort = new AbortController()
    const asked = open().ask(request, abort.signal)
    while (server.attempts.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    abort.abort()
    expect(await asked).toMatchObject({ ok: false, kind: 'cancelled' })
  })

  test('before the call sends nothing', async () => {
    server.script()
    expect(await open().ask(request, AbortSignal.abort())).toMatchObject({ ok: false, kind: 'cancelled' })
    expect(server.attempts).toEqual([])
  })
})

test('if a provider says quota for tokens per minute, it is a rate limit', async () => {
  server.script('quota_429')
  expect(await open({ quotaIsRate: true }).ask(request)).toMatchObject({ kind: 'rate_limited' })
})

test('a key is sent to its own origin only', async () => {
  server.script()
  const model = open({ apiKey: new ApiKey(canary, 'https://api.example.com') })
  await expect(model.ask(request)).rejects.toThrow('is for https://api.example.com')
  expect(server.attempts).toEqual([])
  expectNoCanary(model)
})

function expectNoCanary(value: unknown): void {
  const base64 = Buffer.from(canary).toString('base64')
  const forms = [
    canary,
    JSON.stringify(canary).slice(1, -1),
    encodeURIComponent(canary),
    base64,
    'canary',
    base64.slice(4, 16),
  ]
  const texts = [JSON.stringify(value), inspect(value, { depth: 9, showHidden: true }), String(value)]
  for (const text of texts) for (const form of forms) expect(text).not.toContain(form)
}
