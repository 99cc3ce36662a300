import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw } from '../../test/faults/raw-request.ts'
import { asking, offered, post, serveTiny, type TinyPolicy, tinyPolicy } from '../../test/served.ts'
import { modelAround, tinyModel } from '../../test/tiny-training.ts'
import { cancelled } from '../models/chat-model.ts'
import type { WorkOverview } from '../workers/overview.ts'
import { serveApp } from './app.ts'

let tiny: TinyPolicy
const open: { close(graceMs: number): Promise<void> }[] = []
beforeAll(async () => {
  tiny = await tinyPolicy()
})
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0)
})
afterAll(() => tiny.remove())

async function start(given: Parameters<typeof serveTiny>[1] = {}) {
  const server = await serveTiny(tiny, given)
  open.push(server)
  return server
}

/** Sends a request and returns the status and error code. */
async function outcome(url: string, body: unknown, headers?: Record<string, string>): Promise<unknown[]> {
  const response = await post(url, body, headers)
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  if (error !== undefined) expect(error.message).not.toBe('')
  return [response.status, error?.code]
}

/** A model that answers on command and records cancelled calls. */
function held() {
  const begun = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const givenUp = Promise.withResolvers<void>()
  const model = modelAround(async (request, signal) => {
    begun.resolve()
    const left = signal && once(signal, 'abort').then(() => true)
    if (await Promise.race([free.promise, left])) {
      givenUp.resolve()
      return cancelled
    }
    return tinyModel.ask(request, signal)
  })
  return { model, begun: begun.promise, free: free.resolve, givenUp: givenUp.promise }
}

const usual = asking('What is 6 times 7?')

describe('every route', () => {
  const token = 'a-token-of-sufficient-length'
  const app = () =>
    serveApp({
      ...{ policies: [offered(tiny)], guard: { host: '127.0.0.1', token }, log: () => {} },
      limits: { bodyBytes: 1000, rate: 10, rateOfAll: 10, running: 1, waiting: 1 },
      closing: new AbortController().signal,
    })

  test('needs the token, except for the two that reveal nothing', async () => {
    const routes = app().routes.filter(({ path }) => path !== '/*')
    expect(routes.length).toBeGreaterThan(10)
    for (const { path, method } of routes)
      for (const authorization of [undefined, 'Bearer wrong', `Basic ${token}`]) {
        const headers = { host: '127.0.0.1', ...(authorization && { authorization }) }
        const at = `http://127.0.0.1${path.replace(':model', 'tiny')}`
        const response = await app().request(at, { method: method === 'ALL' ? 'PUT' : method, headers })
        if (['/healthz', '/readyz'].includes(path) && method === 'GET')
          expect([response.status, await response.text()]).toEqual([200, 'ok'])
        else if (!['/healthz', '/readyz'].includes(path)) expect(response.status, path).toBe(401)
      }
  })

  test('refuses other methods and lists the allowed ones', async () => {
    const headers = { host: '127.0.0.1', authorization: `Bearer ${token}` }
    for (const [path, allow] of [
      ['/v1/chat/completions', 'POST'],
      ['/v1/models', 'GET'],
      ['/v1/models/tiny', 'GET'],
      ['/metrics', 'GET'],
    ]) {
      const response = await app().request(`http://127.0.0.1${path}`, { method: 'DELETE', headers })
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    }
  })
})

describe('bad input is refused and the server keeps running', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const bodies: [string, string | object, number][] = [
    ['empty', '', 400],
    ['no JSON', '{', 400],
    ['not an object', '[1]', 400],
    ['null', 'null', 400],
    ['deep', '['.repeat(40_000), 400],
    ['deep and whole', deep(40_000), 400],
    ['deep in a field', `{"model":"tiny","messages":${deep(40_000)}}`, 400],
    [
      'deep in a field that nobody reads',
      `{"model":"tiny","messages":[{"role":"user","content":"x"}],"x":${deep(40_000)}}`,
      200,
    ],
    ['a prototype', `{"__proto__":${JSON.stringify(usual)}}`, 400],
    ['a prototype inside', asking('x', { magic: JSON.parse('{"__proto__":{"seed":1}}') }), 400],
    ['a constructor', asking('x', { magic: { constructor: { prototype: { polluted: true } } } }), 400],
    ['no model', { messages: usual.messages }, 400],
    ['a model that is none', { ...usual, model: '../tiny' }, 404],
    ['a model named as a property', { ...usual, model: '__proto__' }, 404],
    ['a model of another type', { ...usual, model: { $ne: null } }, 400],
    ['no messages', { model: 'tiny', messages: [] }, 400],
    ['no user', { model: 'tiny', messages: [{ role: 'system', content: 'x' }] }, 400],
    ['an empty question', asking(' \n '), 400],
    ['an odd role', { model: 'tiny', messages: [{ role: 'root', content: 'x' }] }, 400],
    [
      'a picture',
      {
        model: 'tiny',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x' } }] }],
      },
      400,
    ],
    ['tools', asking('x', { tools: [{ type: 'function' }] }), 400],
    ['JSON mode', asking('x', { response_format: { type: 'json_object' } }), 400],
    ['several choices', asking('x', { n: 2 }), 400],
    ['a huge seed', asking('x', { magic: { seed: 1e300 } }), 400],
    ['an infinite seed', '{"model":"tiny","messages":[{"role":"user","content":"x"}],"seed":1e999}', 400],
    ['a negative seed', asking('x', { seed: -1 }), 400],
    ['an unknown field of ours', asking('x', { magic: { contracts: 'text' } }), 400],
    ['an answer', asking('x', { magic: { answer: '42' } }), 400],
    ['too many options', asking('x', { magic: { options: Array(27).fill('x') } }), 400],
    ['one option', asking('x', { magic: { options: ['x'] } }), 400],
    ['cells that are no text', asking('x', { magic: { tables: [{ rows: [[1]] }] } }), 400],
    ['another endpoint', asking('x', { magic: { base_url: 'http://evil.example' } }), 400],
    ['half a surrogate pair', asking('half \ud800 a pair'), 200],
    ['too large', asking('x'.repeat(200_000)), 413],
  ]

  test('bodies of every kind', async () => {
    const { url } = await start()
    for (const [name, body, status] of bodies) expect((await outcome(url, body))[0], name).toBe(status)
    const chunks = ReadableStream.from([Buffer.alloc(90_000), Buffer.alloc(90_000)])
    const init = {
      method: 'POST',
      body: chunks,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    }
    expect((await fetch(`${url}/v1/chat/completions`, init as RequestInit)).status).toBe(413)
    expect((await outcome(url, usual, { 'content-type': 'text/plain' }))[0]).toBe(415)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect((await outcome(url, usual))[0]).toBe(200)
  })

  test('a base URL in a request is ignored', async () => {
    const { url } = await start()
    const where = {
      base_url: 'http://evil.example',
      api_base: 'http://evil.example',
      url: 'http://evil.example',
    }
    expect(await outcome(url, { ...usual, ...where })).toEqual([200, undefined])
  })

  const ups = [
    '../',
    '..\\',
    '%2e%2e/',
    '%2e%2e%2f',
    '%252e%252e%252f',
    '..%2f',
    '..%5c',
    '....//',
    '.%00./',
    '%c0%ae%c0%ae/',
  ]
  const paths = [
    ...ups.map((up) => `/v1/models/${up.repeat(4)}etc/passwd`),
    ...ups.map((up) => `/${up.repeat(3)}package.json`),
    ...ups.map((up) => `/v1/${up}runs/tiny/run.json`),
    ...[
      '/v1/models/%00',
      '/v1/models/CON',
      `/v1/models/${'x'.repeat(300)}`,
      '/v1/models//etc/passwd',
      '//etc/passwd',
    ],
    ...['/v1/models/tiny/../../..', '/%', '/v1/models/%ff', '/v1/models/__proto__', '/v1/models/constructor'],
  ]

  test(`${paths.length} paths that point elsewhere`, async () => {
    const { url, port } = await start()
    expect(paths.length).toBe(40)
    for (const path of paths) {
      // Sent verbatim: `fetch` would normalise it first.
      const said = await sendRaw(port, `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
      expect(said, path).toMatch(/^HTTP\/1.1 (400|404) /)
      expect(said).not.toMatch(/root:|magic-agents|magic-run/)
    }
    expect((await outcome(url, usual))[0]).toBe(200)
  })

  test('foreign hosts and origins', async () => {
    const { url, port } = await start()
    const said = await sendRaw(
      port,
      'GET /v1/models HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    )
    expect(said).toMatch(/^HTTP\/1.1 403 /)
    expect(await outcome(url, usual, { origin: 'http://evil.example' })).toEqual([403, 'foreign_origin'])
    const response = await fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'OPTIONS', headers: { origin: url, 'access-control-request-method': 'POST' } },
    })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('500 idle and 200 dripping connections', async () => {
    const { url, port } = await start()
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
    const sockets = Array.from({ length: 700 }, (_, number) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      if (number < 200) socket.write(`${head}content-length: 5000\r\n\r\n{"model"`)
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const drip = setInterval(() => {
      for (const socket of sockets.slice(0, 200)) socket.write(' ')
    }, 50)
    expect((await outcome(url, usual))[0]).toBe(200)
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
    expect((await outcome(url, usual))[0]).toBe(200)
  })
})

describe('a client that disconnects', () => {
  test.each([false, true])('cancels the calls behind it (streamed: %s)', async (stream) => {
    const { model, begun, givenUp } = held()
    const { url, logged } = await start({ model })
    const leaving = new AbortController()
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: leaving.signal }
    const body = JSON.stringify({ ...usual, stream })
    const asked = fetch(`${url}/v1/chat/completions`, { ...init, body }).then((one) => one.text())
    await begun
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await givenUp
    const { calls } = model
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(model.calls).toBe(calls)
    expect(logged.filter(({ event }) => event === 'error')).toEqual([])
  })

  test('leaves the queue', async () => {
    const { model, begun, free } = held()
    const { url } = await start({ model, limits: { running: 1, waiting: 1 } })
    const first = post(url, usual)
    await begun
    const leaving = new AbortController()
    const second = fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(usual) },
      signal: leaving.signal,
    }).catch(() => 'left')
    await waiting(url, 1)
    leaving.abort()
    expect(await second).toBe('left')
    await waiting(url, 0)
    free()
    expect((await first).status).toBe(200)
  })
})

describe('limits', () => {
  test('a full queue refuses requests and says when to retry', async () => {
    const { model, begun, free } = held()
    const { url } = await start({ model, limits: { running: 1, waiting: 1 } })
    const first = post(url, usual)
    await begun
    const second = post(url, usual)
    await waiting(url, 1)
    const third = await post(url, usual)
    expect(third.status).toBe(429)
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await third.json()).toMatchObject({ error: { code: 'queue_full', type: 'rate_limit_error' } })
    free()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
  })

  test('requests per minute are limited', async () => {
    const { url } = await start({ limits: { rate: 3 } })
    for (let number = 0; number < 3; number += 1) expect((await outcome(url, usual))[0]).toBe(200)
    const refused = await post(url, usual)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
    // Other routes are unaffected.
    expect((await fetch(`${url}/v1/models`)).status).toBe(200)
  })

  test('token caps hold per request and per day', async () => {
    const small = await start({ caps: { request: { tokens: 100 } } })
    expect(await outcome(small.url, usual)).toEqual([400, 'request_cap_reached'])
    const day = await start({ caps: { day: { tokens: 6000 } } })
    const outcomes: unknown[] = []
    for (let number = 0; number < 40; number += 1) outcomes.push((await outcome(day.url, usual))[1])
    expect(outcomes[0]).toBeUndefined()
    expect(outcomes.at(-1)).toBe('insufficient_quota')
    const refused = await post(day.url, usual)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    const streamed = await post(small.url, { ...usual, stream: true })
    expect(await streamed.text()).toMatch(/data: \{"error":.*request_cap_reached/)
  })
})

test('a request stopped by its cap reports every call in the reply, the metrics and the log', async () => {
  const model = modelAround((request, signal) => tinyModel.ask(request, signal))
  const { url, logged } = await start({ model, caps: { request: { calls: 2 } } })
  // With this seed the graph has more than one node.
  const response = await post(url, { ...usual, seed: 13 })
  const { error, magic } = (await response.json()) as {
    error: { code: string }
    magic: { spent: { calls: number; unknown: number } }
  }
  expect([error.code, model.calls]).toEqual(['request_cap_reached', 1])
  expect(magic.spent.calls + magic.spent.unknown).toBe(model.calls)
  expect(logged).toMatchObject([{ code: 'request_cap_reached', calls: magic.spent.calls }])
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain(`magic_model_calls_total{model="tiny"} ${magic.spent.calls}\n`)
})

describe('the models behind the server', () => {
  const failing = (kind: 'unauthorized' | 'rejected') =>
    modelAround(async () => ({ ok: false, kind, message: 'account 1234 has no money', durationMs: 1 }))

  test("a model error hides the provider's message", async () => {
    const { url, logged } = await start({ model: failing('unauthorized') })
    const response = await post(url, usual)
    const text = await response.text()
    expect(response.status).toBe(502)
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'model_unavailable' },
      magic: { status: 'stopped' },
    })
    expect(text).not.toContain('1234')
    expect(JSON.stringify(logged)).toContain('1234')
  })

  test('no valid answer is an error that includes its usage', async () => {
    const mute = modelAround(
      async (request, signal) => ({ ...(await tinyModel.ask(request, signal)), text: 'no' }) as never,
    )
    const { url } = await start({ model: mute })
    const response = await post(url, usual)
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(await response.json()).toMatchObject({
      error: { code: 'no_valid_answer' },
      magic: {
        status: 'unanswered',
        usage: { calls: expect.any(Number) },
        graph: { units: expect.any(Array) },
      },
    })
  })

  test('a bug in one ends only its request and is logged', async () => {
    const broken = modelAround(async () => {
      throw new Error('a bug at /some/path')
    })
    const { url, logged } = await start({ model: broken })
    for (const stream of [false, true]) {
      const text = await (await post(url, { ...usual, stream })).text()
      expect(text).toContain('Internal error')
      expect(text).not.toContain('/some/path')
    }
    expect(JSON.stringify(logged)).toContain('a bug at /some/path')
  })
})

describe('shutting down', () => {
  test('finishes running requests and refuses new ones', async () => {
    const { model, begun, free } = held()
    const server = await serveTiny(tiny, { model })
    const running = post(server.url, usual)
    await begun
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    // Started, so that the connection is not closed as idle.
    socket.write('GET /v1/models HTTP/1.1\r\n')
    const closed = server.close(60_000)
    socket.write('host: 127.0.0.1\r\n\r\n')
    const [said] = await once(socket, 'data')
    expect(String(said)).toMatch(/^HTTP\/1.1 503 .*shutting_down/s)
    free()
    expect((await running).status).toBe(200)
    await closed
  })
})

test('the log records events, and questions and answers only on request', async () => {
  const secret = 'the secret word is xyzzy'
  for (const logPrompts of [false, true]) {
    const { url, logged, close } = await serveTiny(tiny, { logPrompts })
    const body = (await (await post(url, asking(secret))).json()) as { magic: { trace: string; key: string } }
    await close(0)
    expect(logged).toMatchObject([
      {
        ...{ event: 'request', method: 'POST', path: '/v1/chat/completions', status: 200, model: 'tiny' },
        ...{ trace: body.magic.trace, graph: body.magic.key, outcome: 'answered', calls: expect.any(Number) },
      },
    ])
    expect(JSON.stringify(logged).includes(secret)).toBe(logPrompts)
  }
})

test('metrics follow the Prometheus format', async () => {
  const { url } = await start()
  await post(url, usual)
  await post(url, { ...usual, model: 'other' })
  for (const path of ['/v1/models/other', '/nothing', '/v1/nothing/else']) await fetch(url + path)
  const response = await fetch(`${url}/metrics`)
  const text = await response.text()
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/)
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(
      /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? [0-9.e+-]+)$/,
    )
  expect(text).toContain('magic_requests_total{route="/v1/chat/completions",status="200"} 1\n')
  expect(text).toContain('magic_requests_total{route="/v1/chat/completions",status="404"} 1\n')
  expect(text).toContain('magic_requests_total{route="/v1/models/:model",status="404"} 1\n')
  expect(text).toContain('magic_requests_total{route="other",status="404"} 2\n')
  expect(text).toContain('magic_answer_seconds_count 1\n')
  expect(text).toMatch(/magic_tokens_total\{model="tiny",kind="input"\} [1-9]/)
})

test('metrics show the queue and workers of a shared PostgreSQL, and survive its absence', async () => {
  const worker = { name: 'a "b"', version: '1', running: 3, done: 9, rate: 1, seconds: 60, leaseSeconds: 20 }
  const runs = [{ run: 'first', running: 3 }]
  let isAway = false
  const work = async (): Promise<WorkOverview> => {
    if (isAway) throw new Error('away')
    return {
      workers: [
        { ...worker, runs, id: 'p1', state: 'working', calls: 8 },
        { ...worker, runs, id: 'p2', state: 'draining', calls: 4 },
        { ...worker, runs, id: 'p3', state: 'silent', calls: 16 },
      ],
      queue: {
        ...{ waiting: 7, running: 6, oldestSeconds: 2.5, rate: 0.5 },
        runs: [{ run: 'first', waiting: 7, running: 6 }],
      },
      models: [
        {
          ...{ model: 'p/m', callsPerMinute: 120 },
          ...{ requestsPerMinute: 300, tokensPerMinute: null, learnedPerMinute: null },
        },
      ],
      refusals: [],
    }
  }
  const { url } = await start({ work })
  const metrics = async () => (await fetch(`${url}/metrics`)).text()
  const told = (await metrics()).split('\n').filter((line) => line.startsWith('magic_work'))
  expect(told).toEqual([
    ...['magic_work_waiting 7', 'magic_work_running 6', 'magic_work_oldest_seconds 2.5'],
    ...['magic_work_per_second 0.5', 'magic_work_refusals 0'],
    ...['magic_work_run_waiting{run="first"} 7', 'magic_work_run_running{run="first"} 6'],
    ...['magic_workers 2', 'magic_worker_calls_limit 12'],
    'magic_worker_running{worker="a \\"b\\"",id="p1"} 3',
    'magic_worker_running{worker="a \\"b\\"",id="p2"} 3',
    'magic_worker_done{worker="a \\"b\\"",id="p1"} 9',
    'magic_worker_done{worker="a \\"b\\"",id="p2"} 9',
    'magic_worker_per_second{worker="a \\"b\\"",id="p1"} 1',
    'magic_worker_per_second{worker="a \\"b\\"",id="p2"} 1',
  ])
  expect(await metrics()).toContain('magic_model_calls_per_minute{model="p/m"} 120\n')
  isAway = true
  expect(await metrics()).not.toContain('magic_work')
  expect(await metrics()).toContain('magic_requests_running')
})

/** Waits until this many requests are queued. */
async function waiting(url: string, count: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (text.includes(`\nmagic_requests_waiting ${count}\n`)) return
  }
}
