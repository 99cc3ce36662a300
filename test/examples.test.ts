import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { openSimulated } from '../src/simulator/server/open-simulated.ts'
import { ownTaskSet } from '../src/tasks/own/own-task-set.ts'
import { magicIn, type Outcome } from './magic.ts'

// Trainings, possibly on a busy machine.
vi.setConfig({ testTimeout: 30 * 60_000 })

const place = mkdtempSync(join(tmpdir(), 'magic-examples-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Runs an example like `npm run example`, in its own folder. */
function example(path: string, env: Record<string, string> = {}, ...words: string[]): Promise<Outcome> {
  const flags = ['--import', at('bin/own-package.js'), at(`examples/${path}`), ...words]
  return new Promise((resolve) => {
    const options = { cwd: place, env: { ...process.env, DEEPSEEK_API_KEY: undefined, ...env } }
    execFile(process.execPath, flags, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    )
  })
}

test('csv-questions trains, evaluates and asks', async () => {
  const { code, stdout, stderr } = await example('csv-questions/main.ts')
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^finished after 13 updates\ntrained: [01]\.\d\d of .*\ndirect: [01]\.\d\d of .*\nanswer .+ by .+\n$/,
  )
})

test('own-roles-and-tool trains by command, and is asked by command and from code', async () => {
  const config = at('examples/own-roles-and-tool/magic.config.ts')
  const trained = await magicIn(place, 'train', '--config', config, '--name', 'tides')
  expect(trained).toMatchObject({ code: 0 })
  expect(trained.stderr).toContain('tide_table')
  const known = 'How many minutes after midnight is the first high water in Hamn on day 8 of the month?'
  const asked = JSON.parse((await magicIn(place, 'ask', 'tides', known, '--json')).stdout)
  expect(asked).toMatchObject({ status: 'answered', guess: false, contract: 'numeric-string' })
  const used = await example('own-roles-and-tool/main.ts', {}, 'runs/tides')
  expect(used).toMatchObject({ code: 0, stderr: '' })
  expect(used.stdout).toMatch(/^(?:answered|no_answer)\S*: /)

  const exported = await magicIn(place, 'export', 'tides', '--to', 'tides.tgz')
  expect(exported).toMatchObject({ code: 0 })
  const without = await magicIn(place, 'ask', 'tides.tgz', known)
  expect(without.code).toBe(2)
  expect(without.stderr).toContain('was trained with your own tide_table')
  expect(await magicIn(place, 'ask', 'tides.tgz', known, '--config', config)).toMatchObject({ code: 0 })
})

test('local-model trains on a local endpoint', async () => {
  const set = await ownTaskSet({ files: at('examples/csv-questions/questions.csv') })
  const { url, close } = await openSimulated({ tasks: knownTasks(set) })
  try {
    const { code, stdout, stderr } = await example('local-model/main.ts', {
      LOCAL_URL: url,
      LOCAL_MODEL: 'simulated',
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^update 1\n(update \d+\n)+update 13\nfinished: \d+ calls\nanswer .+\n$/)
  } finally {
    await close()
  }
})

const building = /(?:progress (?:unit-added|node-start|node-end)\n)+/.source

test('ai-sdk-app asks a policy with generateText and streamText', async () => {
  const { code, stdout, stderr } = await example('ai-sdk-app/main.ts')
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(
    new RegExp(
      `^training finished\nanswer (\\S+), [1-9]\\d* tokens \\(simulated\\)\n${building}streamed \\1\n$`,
    ),
  )
})

test('openai-client asks `magic serve`, plain and streaming, and stops it', async () => {
  const { code, stdout, stderr } = await example('openai-client/main.ts')
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`^answer (\\S+), [1-9]\\d* tokens \\(simulated\\)\n${building}streamed \\1\n$`),
    ),
  })
  const log = stderr.trimEnd().split('\n')
  expect(log.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
    'request',
    'request',
    'note',
    'stopped',
  ])
})
