import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Postgres } from './server.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(() => postgres.stop())

test('creates a new database on request, and keeps it across a restart', async () => {
  const [one, two] = [await postgres.database(), await postgres.database()]
  expect(one).not.toBe(two)
  await postgres.query('CREATE TABLE notes (text text)', one)
  await expect(postgres.query('SELECT * FROM notes', two)).rejects.toThrow(/does not exist/)
  await postgres.restart()
  expect((await postgres.query('SELECT * FROM notes', one)).rows).toEqual([])
})

test('requires the password', async () => {
  const wrong = postgres.address().replace('canary', 'other')
  await expect(postgres.query('SELECT 1', wrong)).rejects.toThrow(/password authentication failed/)
})

test('ends with the process that started it, even if that is killed', async () => {
  const module = new URL('server.ts', import.meta.url)
  const code = `const { Postgres } = await import(${JSON.stringify(module.href)})
    const postgres = await Postgres.start()
    console.log(postgres.pid)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  const pid = Number(line)
  expect(isRunning(pid)).toBe(true)
  child.kill('SIGKILL')
  while (isRunning(pid)) await sleep(20)
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
