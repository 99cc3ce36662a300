import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { canaryPassword } from '../postgres/server.ts'
import { Composition, type StartedService } from './composition.ts'

let composition: Composition
beforeAll(async () => {
  composition = await Composition.open()
})
afterAll(() => composition.close())

/** Restarts a service until it stays up, like `restart: unless-stopped`. */
async function untilReady(name: string): Promise<StartedService> {
  for (;;) {
    const started = await composition.start(name)
    while (started.process.exitCode === null) {
      const reply = await ask('/readyz').catch(() => undefined)
      if (reply?.status === 200) return started
      await sleep(100)
    }
  }
}

/** Requests the server by its service name. */
async function ask(path: string, body?: object): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const asked = request(
    `${composition.url}${path}`,
    {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...{ host: 'server:8080', authorization: `Bearer ${composition.token}` },
        'content-type': 'application/json',
      },
    },
    (response) =>
      text(response).then((said) => resolve({ status: response.statusCode!, text: said }), reject),
  )
  asked.on('error', reject)
  asked.end(body && JSON.stringify(body))
  return await promise
}

const metric = (said: string, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(said)?.[1] ?? Number.NaN)

test('the processes of deploy/ train together, answer a question, continue after a stop, and drain', async () => {
  const workers = [await composition.start('worker'), await composition.start('worker')]
  const first = await composition.start('trainer')
  const server = await untilReady('server')
  const answered = await ask('/v1/chat/completions', {
    model: 'first',
    messages: [{ role: 'user', content: 'What is 3 plus 4?' }],
  })
  expect(answered.status, answered.text).toBe(200)
  expect(JSON.parse(answered.text).choices[0].message.content).toBeTypeOf('string')

  const working = async () => {
    for (;;) {
      for (const worker of workers) expect(worker.process.exitCode, worker.said()).toBeNull()
      const { text: said } = await ask('/metrics')
      if (metric(said, 'magic_workers') === 2 && metric(said, 'magic_work_per_second') > 0) return said
      await sleep(200)
    }
  }
  expect(await working()).toContain('magic_work_run_running{run="first"}')

  // Stopped and started again, the same command resumes.
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(130)
  const second = await composition.start('trainer')
  const begun = /training \(simulated\): \d+\/13/
  while (!begun.test(second.said())) {
    expect(second.process.exitCode, second.said()).toBeNull()
    await sleep(100)
  }
  second.process.kill('SIGTERM')
  expect(await second.ended).toBe(130)

  for (const { process } of [...workers, server]) process.kill('SIGTERM')
  expect(await Promise.all([...workers, server].map(({ ended }) => ended))).toEqual([0, 0, 0])
  for (const worker of workers) expect(worker.said()).toContain('Done.')
  for (const service of [...workers, first, second, server]) {
    expect(service.said()).not.toContain(canaryPassword)
    expect(service.said()).not.toContain(encodeURIComponent(canaryPassword))
  }
})
