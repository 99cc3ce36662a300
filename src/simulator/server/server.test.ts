import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { InstantClock } from '../../../test/faults/instant-clock.ts'
import { sendRaw } from '../../../test/faults/raw-request.ts'
import { contractOf, questions } from '../../../test/simulated/questions.ts'
import { requestOf, userMessage } from '../../../test/simulated/requests.ts'
import { CallLimit } from '../../models/call-limit.ts'
import type { ChatReply, ChatRequest } from '../../models/chat-model.ts'
import type { OpenAICompatibleModel } from '../../models/http/openai-compatible.ts'
import { openModel } from '../../models/open-model.ts'
import { callModel } from '../../models/retry.ts'
import { questionKinds } from '../model/question-kind.ts'
import { SimulatedModel } from '../model/simulator.ts'
import type { FaultKind } from './faults.ts'
import { type ServerSettings, SimulatedServer } from './server.ts'

const tasks = questionKinds.flatMap((kind) => questions(kind, 20))
const requests: ChatRequest[] = questionKinds.flatMap((kind) =>
  questions(kind, 20).map(({ task }) => requestOf(userMessage(task, contractOf[kind]))),
)

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function serve(settings: ServerSettings = {}): Promise<SimulatedServer> {
  const server = await SimulatedServer.start(settings)
  open.push(server)
  return server
}

function clientOf({ url }: SimulatedServer, more: object = {}): OpenAICompatibleModel {
  const model = openModel({ preset: 'vllm', model: 'simulated', baseURL: url, ...more }, {})
  open.push(model)
  return model
}

function post({ url }: SimulatedServer, body: string | Buffer): Promise<Response> {
  return fetch(`${url}/chat/completions`, { method: 'POST', body })
}

const bodyOf = ({ system, user }: ChatRequest, more: object = {}): string =>
  JSON.stringify({
    model: 'simulated',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    response_format: { type: 'json_object' },
    max_tokens: 2048,
    ...more,
  })

const portOf = ({ url }: SimulatedServer) => Number(new URL(url).port)

/** A reply without its transport time. */
const essence = (reply: ChatReply) => ({ ...reply, durationMs: 0 })

describe('the same answers', () => {
  test('over HTTP and in process', async () => {
    const client = clientOf(await serve({ tasks, seed: 3 }))
    const model = new SimulatedModel({ tasks, seed: 3 })
    for (const request of requests)
      expect(essence(await client.ask(request))).toEqual(essence(await model.ask(request)))
  })

  test('byte for byte from two servers', async () => {
    const [one, other] = [await serve({ tasks }), await serve({ tasks, latencyMs: 1 })]
    const bodies = requests.slice(0, 10).map((request) => bodyOf(request))
    const texts = (server: SimulatedServer) =>
      Promise.all(bodies.map(async (body) => (await post(server, body)).text()))
    const first = await texts(one)
    expect(await texts(one)).toEqual(first)
    expect(await texts(other)).toEqual(first)
  })

  test('a seed in the request overrides the server’s', async () => {
    const client = clientOf(await serve({ tasks, seed: 3 }), { extraBody: { seed: 9 } })
    const model = new SimulatedModel({ tasks, seed: 9 })
    for (const request of requests.slice(0, 30))
      expect(essence(await client.ask(request))).toEqual(essence(await model.ask(request)))
  })
})

test('the wire format is OpenAI’s', async () => {
  const server = await serve({ tasks })
  const response = await post(server, bodyOf(requests[0]!))
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    model: 'simulated',
    choices: [
      { index: 0, message: { role: 'assistant', content: expect.any(String) }, finish_reason: 'stop' },
    ],
    usage: {
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
      prompt_tokens_details: { cached_tokens: expect.any(Number) },
    },
  })
  const models = await fetch(`${server.url}/models`)
  expect(await models.json()).toMatchObject({ object: 'list', data: [{ id: 'simulated', object: 'model' }] })
  const parts = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, { type: 'image_url' }] }],
  }
  expect((await post(server, bodyOf(requests[0]!, parts))).status).toBe(200)
})

describe('faults, as seen by the real client', () => {
  const seen: Record<FaultKind, object> = {
    '429': { ok: false, kind: 'rate_limited', status: 429 },
    '500': { ok: false, kind: 'server_error', status: 500 },
    '503': { ok: false, kind: 'server_error', status: 503 },
    reset: { ok: false, kind: 'network' },
    hang: { ok: false, kind: 'timeout' },
    drip: { ok: false, kind: 'timeout' },
    truncate: { ok: false, kind: 'network' },
    broken_json: { ok: false, kind: 'bad_response' },
    bad_text: { ok: true, finish: 'stop' },
    cut_off: { ok: true, finish: 'length' },
  }

  test.each(Object.entries(seen))('%s', async (kind, reply) => {
    // Only faults that never end on their own may run into a deadline.
    const deadline = kind === 'hang' || kind === 'drip' ? { deadlineSeconds: 0.5 } : {}
    const client = clientOf(await serve({ tasks, faults: { [kind]: 1 } }), deadline)
    const got = await client.ask(requests[0]!)
    expect(got).toMatchObject(reply)
    if (got.ok) expect(() => JSON.parse(got.text)).toThrow()
  })

  test('occur at the given rates, reproducibly, and retries succeed', async () => {
    const faults = { 429: 0.15, 500: 0.1, truncate: 0.05, broken_json: 0.1 }
    const outcomes = async () => {
      const client = clientOf(await serve({ tasks, seed: 11, faults }))
      const options = { clock: new InstantClock(), limit: new CallLimit(16) }
      const calls = await Promise.all(requests.map((request) => callModel(client, request, options)))
      return calls.map(({ reply, attempts }) => ({
        ok: reply.ok,
        attempts: attempts.map(({ reply: one }) => (one.ok ? 'ok' : one.kind)),
      }))
    }
    const first = await outcomes()
    const attempts = first.flatMap((call) => call.attempts)
    const share = (kind: string) => attempts.filter((one) => one === kind).length / attempts.length
    expect(Math.abs(share('ok') - 0.6)).toBeLessThan(0.12)
    expect(Math.abs(share('rate_limited') - 0.15)).toBeLessThan(0.1)
    expect(first.filter(({ ok }) => ok).length).toBeGreaterThan(requests.length * 0.9)
    expect(await outcomes()).toEqual(first)
  })

  test('a successful retry answers like an undisturbed call', async () => {
    const client = clientOf(await serve({ tasks, seed: 2, faults: { 500: 0.5 } }))
    const model = new SimulatedModel({ tasks, seed: 2 })
    for (const request of requests.slice(0, 20)) {
      const { reply } = await callModel(client, request, { clock: new InstantClock() })
      if (reply.ok) expect(essence(reply)).toEqual(essence(await model.ask(request)))
    }
  })

  test('impossible rates are refused at the start', async () => {
    await expect(SimulatedServer.start({ faults: { 429: 0.9, 500: 0.9 } })).rejects.toThrow(/at most 1/)
    await expect(SimulatedServer.start({ faults: { 429: Number.NaN } })).rejects.toThrow(/at most 1/)
  })
})

describe('it survives any input', () => {
  const usual = bodyOf(requests[0]!)
  const deep = '['.repeat(200_000)
  const refused: [string, string, number][] = [
    ['empty', '', 400],
    ['no JSON', '{', 400],
    ['no object', '[1]', 400],
    ['deep', deep, 400],
    ['deep and whole', `{"model":"m","messages":${deep}${']'.repeat(200_000)}}`, 200],
    ['no model', '{"messages":[]}', 400],
    ['no messages', '{"model":"m"}', 400],
    ['messages of another type', '{"model":"m","messages":"x"}', 400],
    ['odd messages', '{"model":"m","messages":[null,1,"x",{"role":7}]}', 200],
    ['streaming', bodyOf(requests[0]!, { stream: true }), 400],
    ['several choices', bodyOf(requests[0]!, { n: 3 }), 400],
    ['a bad limit', bodyOf(requests[0]!, { max_tokens: -1 }), 400],
    ['a proto body', `{"__proto__":${usual},"constructor":{"prototype":{"polluted":true}}}`, 400],
    ['too large', `{"model":"${'x'.repeat(9 * 1024 * 1024)}"}`, 413],
  ]

  test('bodies of every kind', async () => {
    const server = await serve({ tasks })
    for (const [name, body, status] of refused) {
      const response = await post(server, body)
      expect(response.status, name).toBe(status)
      const json = (await response.json()) as object
      if (status !== 200)
        expect(json, name).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } })
    }
    const notUtf8 = await post(server, Buffer.from([0xff, 0xfe, 0x00]))
    expect(notUtf8.status).toBe(400)
    expect((await post(server, usual)).status).toBe(200)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('unknown paths, methods and hosts', async () => {
    const server = await serve()
    const at = (path: string, init?: RequestInit) => fetch(server.url.replace('/v1', path), init)
    expect((await at('/')).status).toBe(404)
    expect((await at('/v1/chat/completions/../../etc/passwd')).status).toBe(404)
    const wrong = await at('/v1/chat/completions')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await at('/v1/models', { method: 'DELETE' })).status).toBe(405)
    expect((await at('/v1/models?x=1')).status).toBe(200)
    expect(
      await sendRaw(
        portOf(server),
        'GET /v1/models HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
      ),
    ).toMatch(/ 403 /)
    expect(await sendRaw(portOf(server), 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    expect((await at('/v1/models')).status).toBe(200)
  })

  test('clients that disconnect midway', async () => {
    const server = await serve({ tasks, latencyMs: 20 })
    const port = portOf(server)
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${Buffer.byteLength(usual)}\r\n\r\n`
    for (const part of ['', head, head + usual.slice(0, 50), head + usual]) {
      const socket = connect(Number(port), '127.0.0.1')
      await new Promise<void>((resolve) => socket.write(part === '' ? 'P' : part, () => resolve()))
      socket.destroy()
    }
    expect((await post(server, usual)).status).toBe(200)
  })
})

describe('closing', () => {
  test('answers pending requests at once and cuts off hanging ones', async () => {
    const slow = await SimulatedServer.start({ tasks, latencyMs: 600_000 })
    const hanging = await SimulatedServer.start({ tasks, faults: { hang: 1 } })
    const dripping = await SimulatedServer.start({ tasks, faults: { drip: 1 } })
    const [answered, cut, dripped] = [slow, hanging, dripping].map((server) =>
      post(server, bodyOf(requests[0]!)).then(
        async (response) => (await response.text().catch(() => 'cut')).length > 100,
        () => false,
      ),
    )
    for (const server of [slow, hanging, dripping]) await vi.waitFor(() => expect(server.requests).toBe(1))
    await Promise.all([slow.close(), hanging.close(), dripping.close()])
    expect(await Promise.all([answered, cut, dripped])).toEqual([true, false, false])
    await expect(fetch(`${slow.url}/models`)).rejects.toThrow()
  })

  test('a taken port is an error, not a crash', async () => {
    const server = await serve()
    const port = portOf(server)
    await expect(SimulatedServer.start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
