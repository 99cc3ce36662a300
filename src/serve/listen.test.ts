import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import { sendRaw } from '../../test/faults/raw-request.ts'
import { type Listening, type ListenOptions, listen } from './listen.ts'

const open: Listening[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0)
})

/** Answers `/slow` on command and records disconnects. */
async function start(options: Partial<ListenOptions> = {}) {
  const app = new Hono()
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  app.get('/', (context) => context.text('here'))
  app.post('/', async (context) => context.text(`${(await context.req.text()).length}`))
  app.get('/slow', async (context) => {
    context.req.raw.signal.addEventListener('abort', () => left.resolve())
    asked.resolve()
    await told
    return context.text('done')
  })
  const server = await listen(app.fetch, { host: '127.0.0.1', port: 0, ...options })
  open.push(server)
  return { server, tell, asked: asked.promise, left: left.promise }
}

test('closing finishes running requests and accepts no new ones', async () => {
  const { server, tell, asked } = await start()
  const slow = fetch(`${server.url}/slow`)
  await asked
  const closed = server.close(60_000)
  await expect(fetch(server.url, { headers: { connection: 'close' } })).rejects.toThrow()
  tell()
  expect(await (await slow).text()).toBe('done')
  await closed
})

test('after the grace period requests are cut, and the handler is notified', async () => {
  const { server, asked, left } = await start()
  const slow = fetch(`${server.url}/slow`).catch(() => 'cut')
  await asked
  await server.close(10)
  expect(await slow).toBe('cut')
  await left
})

test('the handler is notified when a client disconnects', async () => {
  const { server, asked, left } = await start()
  const leaving = new AbortController()
  const slow = fetch(`${server.url}/slow`, { signal: leaving.signal }).catch(() => 'left')
  await asked
  leaving.abort()
  expect(await slow).toBe('left')
  await left
})

test('connections that send nothing or too little are closed', async () => {
  const { server } = await start({ headerSeconds: 0.3, bodySeconds: 0.6 })
  const [, header, body] = await Promise.all([
    sendRaw(server.port, ''),
    sendRaw(server.port, 'GET / HTTP/1.1\r\nhost: x\r\nx-more: '),
    sendRaw(server.port, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nnot all of it'),
  ])
  expect(header).toMatch(/^HTTP\/1.1 408 /)
  expect(body).toMatch(/^HTTP\/1.1 408 /)
})

// With the default timeouts, which an honest request meets even on a busy machine.
test('while silent connections wait, honest ones are answered, and malformed or oversized ones refused', async () => {
  const { server } = await start()
  const silent = [
    sendRaw(server.port, ''),
    sendRaw(server.port, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n'),
  ]
  expect(await (await fetch(server.url)).text()).toBe('here')
  const long = await sendRaw(
    server.port,
    `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(40_000)}\r\n\r\n`,
  )
  expect(long).toMatch(/^HTTP\/1.1 431 /)
  expect(await sendRaw(server.port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
  expect(await (await fetch(server.url)).text()).toBe('here')
  await server.close(0)
  await Promise.all(silent)
})

test('an unavailable address is refused with the remedy', async () => {
  const { server } = await start()
  const again = (host: string, port: number) => listen(() => new Response(), { host, port })
  await expect(again('127.0.0.1', server.port)).rejects.toThrow(/is in use.*--port/)
  await expect(again('203.0.113.7', 0)).rejects.toThrow(/--host/)
})
