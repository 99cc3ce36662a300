import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { contractOf, questions } from '../../../test/simulated/questions.ts'
import { requestOf, userMessage } from '../../../test/simulated/requests.ts'
import { openModel } from '../../models/open-model.ts'
import { SimulatedModel } from '../../simulator/model/simulator.ts'
import { simulateCommand } from './simulate.ts'

const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

const entry = `import { simulateCommand } from ${JSON.stringify(new URL('simulate.ts', import.meta.url).href)}
await simulateCommand().parseAsync()`

/** Starts the command in its own process and waits for its first output. */
async function started(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', entry, '--', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // A failed test must not leave its server running.
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let said = ''
  child.stdout.setEncoding('utf8')
  const first = Promise.withResolvers<void>()
  child.stdout.on('data', (text: string) => {
    said += text
    first.resolve()
  })
  await first.promise
  return { child, ended, said: () => said }
}

test('serves its tasks until interrupted', async () => {
  const tasks = questions('math', 20)
  const path = join(folder, 'tasks.jsonl')
  writeFileSync(path, tasks.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const { child, ended, said } = await started('--tasks', path, '--seed', '5', '--json')
  const described = JSON.parse(said())
  expect(described).toMatchObject({
    simulated: true,
    model: 'simulated',
    tasks: 20,
    seed: 5,
    latencyMs: 0,
    faults: {},
  })
  const client = openModel({ preset: 'vllm', model: 'simulated', baseURL: described.baseURL }, {})
  const model = new SimulatedModel({ tasks, seed: 5 })
  for (const { task } of tasks) {
    const request = requestOf(userMessage(task, contractOf.math))
    const [served, own] = [await client.ask(request), await model.ask(request)]
    expect({ ...served, durationMs: 0 }).toEqual({ ...own, durationMs: 0 })
  }
  await client.close()
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
})

test('prints its address and usage, and stops even with calls pending', async () => {
  const { child, ended, said } = await started('--fault', 'hang=1', '--latency', '3')
  const [url] = said().match(/http:\/\/127\.0\.0\.1:\d+\/v1/) ?? []
  expect(said()).toContain(
    '  tasks    none known, so every answer is a guess\n  seed     0\n  latency  3 ms\n  faults   hang=1\n',
  )
  expect(said()).toMatch(/are simulated/)
  expect(said()).toContain(`--base-url ${url}`)
  const hanging = fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
  }).then(
    () => 'answered',
    () => 'cut off',
  )
  await fetch(`${url}/models`).then((response) => response.text())
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(await hanging).toBe('cut off')
  expect(said()).toMatch(/Stopped after [01] requests\.\n$/)
})

describe('errors say how to fix them', () => {
  const run = (...args: readonly string[]) =>
    simulateCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: 'user' })

  test.each([
    [['--port', '70000'], /whole number from 0 to 65535/],
    [['--seed', 'x'], /whole number/],
    [['--latency', '-3'], /whole number/],
    [['--fault', 'rain=0.1'], /choose from 429/],
    [['--fault', '429=0.9', '500=0.9'], /at most 1/],
    [['--tasks', join(folder, 'nowhere.jsonl')], /nowhere\.jsonl/],
  ])('%j', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message)
  })

  test('a port already in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await expect(run('--port', String(port))).rejects.toThrow(/in use. Choose another/)
    other.close()
  })
})
