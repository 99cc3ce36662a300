import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { magic, magicWith } from '../magic.ts'
import { asking, post } from '../served.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-serve-'))
const runs = join(folder, 'runs')
const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
const started: ChildProcess[] = []

beforeAll(async () => {
  const questions = [3, 4, 5, 6, 7, 8].map((n) => ({ question: `What is ${n} times 7?`, answer: `${n * 7}` }))
  const file = join(folder, 'questions.jsonl')
  writeFileSync(file, questions.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const flags = ['--method', 'paper', '--updates', '1', '--set', 'hidden=16', '--runs-dir', runs]
  const { code, stderr } = await magic('train', file, '--name', 'first', ...flags)
  expect(code, stderr).toBe(0)
})
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The command in its own process, once it listens. */
async function start(words: readonly string[], run = 'first') {
  const options = ['serve', run, '--runs-dir', runs, '--port', '0', '--json']
  const child = spawn(process.execPath, [script, ...options, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  let log = ''
  child.stderr!.on('data', (data) => {
    log += data
  })
  const [line] = await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(log))),
  ])
  const { baseURL, models } = JSON.parse(line)
  return { child, models, url: baseURL.replace(/\/v1$/, ''), log: () => log }
}

const ask = (url: string, more: object = {}, headers?: Record<string, string>) =>
  post(url, asking('What is 6 times 7?', { model: 'first', ...more }), headers)

test('answers like `magic ask`, and SIGTERM ends it after running requests', async () => {
  const { child, models, url, log } = await start(['--simulated-latency', '0'])
  expect(models).toEqual([{ id: 'first', update: 1, simulated: true }])
  const body = (await (await ask(url)).json()) as {
    choices: { message: { content: string } }[]
    magic: object
  }
  const asked = await magic('ask', 'first', 'What is 6 times 7?', '--runs-dir', runs, '--json')
  const { answer, graph, key, usage, seed, contract, guess } = JSON.parse(asked.stdout)
  expect(body.choices[0]!.message.content).toBe(answer)
  expect(body.magic).toMatchObject({ graph, key, usage, seed, contract, guess, simulated: true })
  const running = ask(url)
  await running
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const entries = log()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; time: string })
  expect(entries.map(({ event }) => event)).toEqual(['request', 'request', 'note', 'stopped'])
  expect(log()).not.toContain('6 times 7')
})

async function said(log: () => string, text: string): Promise<void> {
  while (!log().includes(text)) await sleep(10)
}

/** A streamed answer whose first progress has arrived, so its calls are in flight. */
async function startStreaming(url: string) {
  const response = await ask(url, { stream: true })
  const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let text = ''
  while (!text.includes('node-start')) {
    const { done, value } = await chunks.next()
    if (done) throw new Error(text)
    text += value
  }
  /** The whole stream, once it has ended. */
  const rest = async () => {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) text += next.value
    return text
  }
  return { rest }
}

test('the first SIGTERM finishes running requests and accepts no new ones', async () => {
  const { child, url, log } = await start(['--simulated-latency', '500', '--grace', '600'])
  const { rest } = await startStreaming(url)
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await said(log, 'Stopping')
  const late = await ask(url).then(
    ({ status }) => status,
    () => 'refused',
  )
  expect([503, 'refused']).toContain(late)
  const stream = await rest()
  expect(stream).toMatch(/"content":"[^"]+"/)
  expect(stream.trimEnd()).toMatch(/data: \[DONE\]$/)
  expect(await exited).toEqual([0, null])
  expect(log()).toContain('"event":"stopped"')
})

test('the second SIGTERM ends it at once', async () => {
  const { child, url, log } = await start(['--simulated-latency', '3600000', '--grace', '3600'])
  const { rest } = await startStreaming(url)
  const cut = rest().then(
    (text) => text.includes('[DONE]'),
    () => false,
  )
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await said(log, 'Stopping')
  child.kill('SIGTERM')
  expect(await exited).toEqual([130, null])
  expect(await cut).toBe(false)
  expect(log()).not.toContain('"event":"stopped"')
})

test('the daily cap holds after a kill', async () => {
  const cap = 60_000
  const flags = ['--max-day-tokens', String(cap)]
  let used = 0
  for (let life = 0; life < 3; life += 1) {
    const { child, url } = await start(flags)
    const lives = Array.from({ length: 6 }, async (_, number) => {
      const response = await ask(url, { seed: life * 6 + number }).catch(() => undefined)
      if (response?.status !== 200) return
      const { usage } = (await response.json().catch(() => ({}))) as { usage?: { total_tokens: number } }
      used += usage?.total_tokens ?? 0
      child.kill('SIGKILL')
    })
    await Promise.all(lives)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  expect(used).toBeGreaterThan(0)
  expect(used).toBeLessThanOrEqual(cap)
  const { tokens } = JSON.parse(readFileSync(join(runs, 'first', 'serve', 'day.json'), 'utf8'))
  expect(tokens).toBeGreaterThanOrEqual(used)
  const { url } = await start(['--max-day-tokens', String(tokens)])
  const refused = await ask(url)
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    429,
    'insufficient_quota',
  ])
  const second = await magic('serve', 'first', '--runs-dir', runs, '--port', '0', ...flags)
  expect(second.code).toBe(2)
  expect(second.stderr).toMatch(/Another server \(process \d+\).*--state-dir/)
})

test('an export is served like its run; a daily cap needs a permanent folder', async () => {
  const exported = join(folder, 'first.tgz')
  const { code, stderr } = await magic('export', 'first', '--runs-dir', runs, '--to', exported)
  expect(code, stderr).toBe(0)
  const question = 'What is 9 times 7?'
  const asked = await magic('ask', exported, question, '--json')
  const { answer, graph } = JSON.parse(asked.stdout)
  const caps = ['--max-day-tokens', '1000000']
  const refused = await magic('serve', exported, '--port', '0', ...caps)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--state-dir')])
  const state = join(folder, 'state')
  const { models, url } = await start([...caps, '--state-dir', state], exported)
  expect(models).toEqual([{ id: 'first', update: 1, simulated: true }])
  const response = await post(url, asking(question, { model: 'first' }))
  expect(await response.json()).toMatchObject({
    choices: [{ message: { content: answer } }],
    magic: { graph, guess: true },
  })
  const day = JSON.parse(readFileSync(join(state, 'first', 'day.json'), 'utf8'))
  expect(day.tokens).toBeGreaterThan(0)
})

test('a token is required for other machines, is checked, and is never shown', async () => {
  const words = ['serve', 'first', '--runs-dir', runs, '--port', '0', '--host', '0.0.0.0']
  const none = await magic(...words)
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--token-env MAGIC_TOKEN')])
  const short = await magicWith({ MAGIC_TOKEN: 'short' }, ...words, '--token-env', 'MAGIC_TOKEN')
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('openssl rand -hex 32')])
  const file = join(folder, 'token')
  const canary = 'canary-0123456789abcdef'
  writeFileSync(file, `${canary}\n`)
  chmodSync(file, 0o644)
  expect((await magic(...words, '--token-file', file)).stderr).toContain('chmod 600')
  chmodSync(file, 0o600)
  const { url, log, child } = await start(['--token-file', file, '--log-prompts'])
  expect((await ask(url)).status).toBe(401)
  expect((await ask(url, {}, { authorization: `Bearer ${canary}x` })).status).toBe(401)
  const answered = await ask(url, {}, { authorization: `Bearer ${canary}` })
  expect(answered.status).toBe(200)
  child.kill('SIGTERM')
  await once(child, 'exit')
  expect(log() + (await answered.text())).not.toContain(canary)
})

test('unservable runs are refused with the remedy', async () => {
  const serve = (...words: string[]) => magic('serve', ...words, '--runs-dir', runs, '--port', '0')
  expect((await serve('other')).stderr).toContain("There is no run 'other'")
  expect((await serve('first', join(runs, 'first'))).stderr).toContain('Two runs are called first')
  const capped = ['first', '--model', 'vllm', '--model-name', 'x', '--base-url', 'http://127.0.0.1:9/v1']
  const unpriced = await serve(...capped, '--max-day-cost', '1')
  expect([unpriced.code, unpriced.stderr]).toEqual([
    2,
    expect.stringContaining('is unknown, so its cost cannot be limited'),
  ])
})
