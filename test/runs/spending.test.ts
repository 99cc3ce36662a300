import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fault, FaultServer } from '../faults/fault-server.ts'
import type { Outcome } from '../magic.ts'

// Compares what a run says it has spent with the log of a server that fails in many ways, across stops,
// kills and resumes.

const folder = mkdtempSync(join(tmpdir(), 'magic-spending-'))
const questions = join(folder, 'questions.jsonl')
const rows = Array.from({ length: 10 }, (_, index) => ({
  question: `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`,
  answer: String((index + 2) * (index + 5)),
}))
writeFileSync(questions, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))

/** Usage as the server reports it, and as it would bill it. */
const usageOf = (body: string) => ({ promptTokens: Math.ceil(body.length / 4), completionTokens: 9 })
const told: readonly Fault[] = ['ok', 'no_choices']
const unknown: readonly Fault[] = ['reset', 'truncate', 'no_usage', 'hang']
const free: readonly Fault[] = ['429_after_0', '500']

let server: FaultServer
/** From this attempt on nothing is answered: calls stay in flight until their process ends. */
let silentFrom = Number.POSITIVE_INFINITY
beforeAll(async () => {
  server = await FaultServer.start()
  server.answer((body) => ({ content: '{"analysis":"x","answer":"A"}', ...usageOf(body) }))
  server.plan((number) => {
    if (number >= silentFrom) return 'hang'
    if (number % 9 === 4) return '429_after_0'
    if (number % 13 === 6) return 'reset'
    if (number % 17 === 8) return 'no_usage'
    if (number % 19 === 10) return 'no_choices'
    if (number % 23 === 12) return '500'
    return number % 29 === 14 ? 'truncate' : 'ok'
  })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(...words: string[]): { child: ChildProcess; outcome: Promise<Outcome> } {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const env = { ...process.env, NO_COLOR: '1', OPENAI_API_KEY: 'sk-test', MAGIC_RUNS_DIR: folder }
  const child = spawn(process.execPath, [script, ...words], { env })
  const ended = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')])
  return { child, outcome: ended.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code })) }
}

/** Ends a command once this many of its calls hang. */
async function endWhenSilent(signal: NodeJS.Signals, after: number, words: string[]): Promise<Outcome> {
  silentFrom = server.attempts.length + after
  const { child, outcome } = start(...words)
  while (server.attempts.length < silentFrom + 4 && child.exitCode === null) await sleep(10)
  child.kill(signal)
  const ended = await outcome
  silentFrom = Number.POSITIVE_INFINITY
  return ended
}

function log() {
  const count = (faults: readonly Fault[]) =>
    server.attempts.filter(({ fault }) => faults.includes(fault)).length
  const billed = server.attempts.filter(({ fault }) => told.includes(fault)).map(({ body }) => usageOf(body))
  return {
    answered: count(['ok', 'no_usage']),
    input: billed.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    output: billed.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    unknown: count(unknown),
    free: count(free),
  }
}

/** The end of a command that printed JSON, compared with the server's log. */
function expectLogMatches({ stdout }: Outcome) {
  const result = JSON.parse(stdout)
  const { answered, input, output, unknown } = log()
  expect(result.spent).toMatchObject({ calls: answered, input, output, unknown })
  return result
}

test("across failures, kills, a stop, a cap and resumes, the sums match the server's", async () => {
  const model = ['--model', 'openai', '--model-name', 'm', '--base-url', server.url]
  const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2']
  const training = ['train', questions, ...model, ...small, '--updates', '4', '--name', 'run', '--json']
  const cap = 60_000
  const first = await endWhenSilent('SIGKILL', 12, [
    ...training,
    '--concurrency',
    '4',
    '--max-tokens',
    String(cap),
  ])
  expect(first.stdout).toBe('')
  // Within an update, once more.
  await endWhenSilent('SIGKILL', 9, ['resume', 'run', '--json'])
  const stopped = await endWhenSilent('SIGINT', 9, ['resume', 'run', '--json'])
  expect(stopped.code).toBe(130)
  expectLogMatches(stopped)
  expect(stopped.stderr).toMatch(/4 calls were in flight when the run last stopped/)

  const capped = await start('resume', 'run', '--json').outcome
  expect(capped.code).toBe(3)
  const { spent, cap: reached } = expectLogMatches(capped)
  expect(reached).toEqual({
    name: 'tokens',
    overshoot: spent.input + spent.output + spent.unknownAtMost.tokens - cap,
  })
  expect(log().unknown).toBeGreaterThan(12)
  expect(log().free).toBeGreaterThan(2)

  // The cap is remembered: nothing more is asked.
  const asked = server.attempts.length
  const again = await start('resume', 'run', '--json').outcome
  expect(again.code).toBe(3)
  expect(server.attempts.length).toBe(asked)
  expectLogMatches(again)

  const finished = await start('resume', 'run', '--json', '--max-tokens', '100000000').outcome
  expect(finished.code).toBe(0)
  expect(expectLogMatches(finished)).toMatchObject({ status: 'finished', done: 4 })
  expect((await start('verify', 'run').outcome).code).toBe(0)
})
