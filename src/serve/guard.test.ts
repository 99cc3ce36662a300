import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { assertGuarded, type GuardOptions, guard, isToken } from './guard.ts'
import type { Refusal } from './refusal.ts'

function ask(options: Partial<GuardOptions>, headers: Record<string, string>, path = '/thing') {
  const app = new Hono()
  app.use(guard({ host: '127.0.0.1', ...options }))
  app.get('*', (context) => context.text('in'))
  app.onError((error) => (error as Refusal).response)
  return app.request(`http://127.0.0.1:8080${path}`, { headers: { host: '127.0.0.1:8080', ...headers } })
}

const status = async (...given: Parameters<typeof ask>) => (await ask(...given)).status

describe('hosts', () => {
  test.each(['127.0.0.1', 'localhost:80', 'LOCALHOST:8080', '[::1]:9', '127.0.0.1:65535'])(
    '%s',
    async (host) => {
      expect(await status({}, { host })).toBe(200)
    },
  )

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:80',
    'evil.example:127',
    'user@localhost',
    'localhost:80:80',
    'localhost/x',
    'localhost\\x',
    '10.0.0.7',
    '[::2]',
    '0.0.0.0',
    '',
  ])('%j is refused', async (host) => {
    expect(await status({}, { host })).toBe(403)
  })

  test('a public server accepts addresses and its configured names', async () => {
    const open = { host: '0.0.0.0', hosts: ['Magic.Example'], token: 'secret' }
    const authorization = 'Bearer secret'
    for (const host of ['10.0.0.7:8080', '[fe80::1]', 'magic.example:443', 'localhost'])
      expect(await status(open, { host, authorization }), host).toBe(200)
    expect(await status(open, { host: 'evil.example', authorization })).toBe(403)
  })
})

describe('origins', () => {
  const host = '127.0.0.1:8080'

  test.each<Record<string, string>>([
    {},
    { origin: 'http://127.0.0.1:8080' },
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ])('%j', async (headers) => {
    expect(await status({}, { host, ...headers })).toBe(200)
  })

  test.each<Record<string, string>>([
    { origin: 'http://evil.example' },
    { origin: 'http://127.0.0.1:8081' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:8080.evil.example' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ])('%j is refused', async (headers) => {
    expect(await status({}, { host, ...headers })).toBe(403)
  })
})

describe('tokens', () => {
  const token = 'correct-horse'

  test('only the right one is accepted, as a bearer token', async () => {
    expect(await status({ token }, { authorization: `Bearer ${token}` })).toBe(200)
    expect(await status({ token }, { authorization: `bearer  ${token}` })).toBe(200)
    const wrong = ['', 'Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer ${token}x`, `Bearer x ${token}`]
    for (const authorization of [...wrong, `Bearer ${token.slice(1)}`, `Bearer ${token.toUpperCase()}`])
      expect(await status({ token }, { authorization }), authorization).toBe(401)
    const refused = await ask({ token }, {})
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refused.json()).toEqual({
      error: {
        message: expect.stringContaining('Authorization: Bearer'),
        type: 'authentication_error',
        param: null,
        code: 'invalid_api_key',
      },
    })
  })

  test('may come from elsewhere if the server allows it, and open paths need none', async () => {
    const tokenOf = (request: Request) => new URL(request.url).searchParams.get('token') ?? undefined
    expect(await status({ token, tokenOf }, {}, `/thing?token=${token}`)).toBe(200)
    expect(await status({ token, tokenOf }, {}, '/thing?token=other')).toBe(401)
    expect(await status({ token, open: ['/healthz'] }, {}, '/healthz')).toBe(200)
    expect(await status({ token, open: ['/healthz'] }, {}, '/healthz/../thing')).toBe(401)
    expect(await status({ token, open: ['/healthz'] }, { host: 'evil.example' }, '/healthz')).toBe(403)
  })

  test('are compared at any length', () => {
    expect(isToken('', token)).toBe(false)
    expect(isToken(token.repeat(1000), token)).toBe(false)
    expect(isToken('ключ', 'ключ')).toBe(true)
  })
})

test('a server for other machines requires a token', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1'])
    expect(() => assertGuarded(host, undefined)).not.toThrow()
  for (const host of ['0.0.0.0', '::', '10.0.0.7', 'magic.example'])
    expect(() => assertGuarded(host, undefined), host).toThrow(/--token-env/)
  expect(() => assertGuarded('0.0.0.0', 'secret')).not.toThrow()
})
