import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FaultServer } from '../faults/fault-server.ts'
import { magic, magicProcess, magicWith, type Outcome } from '../magic.ts'
import { describeShared, sharedPath } from '../shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-train-'))
const runs = join(folder, 'runs')
const run = (name: string) => join(runs, name)
const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const file = (name: string, content: string) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const questions = file(
  'ferries.jsonl',
  lines(
    Array.from({ length: 10 }, (_, index) => ({
      id: `ferry-${index}`,
      question: `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`,
      answer: String((index + 2) * (index + 5)),
    })),
  ),
)
// Small enough for seconds, yet complete: probes, groups, several updates.
const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2', '--runs-dir', runs]
const training = (name: string, ...more: string[]) => [
  'train',
  questions,
  ...small,
  '--updates',
  '4',
  '--name',
  name,
  ...more,
]

/** The final weights and optimizer state, byte for byte. */
function finalState(name: string): Record<string, string> {
  const checkpoint = join(run(name), 'checkpoints', 'update-000004')
  const tensors = readdirSync(checkpoint).filter((entry) => entry.endsWith('.safetensors'))
  expect(tensors.length).toBeGreaterThan(0)
  return Object.fromEntries(tensors.map((entry) => [entry, readFileSync(join(checkpoint, entry), 'base64')]))
}

interface Halted {
  readonly name: string
  readonly child: ChildProcess
  readonly outcome: Promise<Outcome>
}

/**
 * A training in its own process, halted after at least one of four updates and within another. On a busy
 * machine it may finish before we look: then another one is started.
 */
async function haltedTraining(prefix: string): Promise<Halted> {
  for (let attempt = 1; ; attempt += 1) {
    const name = `${prefix}-${attempt}`
    const { child, outcome } = await startTraining(name)
    child.kill('SIGSTOP')
    const isDone = child.exitCode !== null || existsSync(join(run(name), 'checkpoints', 'update-000004'))
    if (!isDone) return { name, child, outcome }
    child.kill('SIGKILL')
    await outcome
  }
}

async function startTraining(name: string): Promise<Omit<Halted, 'name'>> {
  const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
  const words = training(name, '--simulated-latency', '150', '--concurrency', '4')
  const child = spawn(process.execPath, [script, ...words], { env: { ...process.env, NO_COLOR: '1' } })
  const outcome = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]).then(
    ([stdout, stderr, [code]]) => ({ stdout, stderr, code }),
  )
  const checkpoints = join(run(name), 'checkpoints')
  const hasBegun = () =>
    existsSync(checkpoints) && readdirSync(checkpoints).some((entry) => /^update-0+[1-4]$/.test(entry))
  while (child.exitCode === null && !hasBegun()) await sleep(20)
  return { child, outcome }
}

let whole: Outcome
beforeAll(async () => {
  whole = await magicProcess({}, ...training('whole'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('magic train', () => {
  test('checks itself, trains, and says where to look next', () => {
    expect(whole.code).toBe(0)
    for (const name of ['data', 'scorer', 'price', 'model'])
      expect(whole.stderr).toMatch(new RegExp(`^✓ ${name} `, 'm'))
    expect(whole.stderr).toContain('training (simulated): done, 4/4')
    expect(whole.stdout).toContain('finished, 4 updates')
    expect(whole.stdout).toContain('simulated')
    expect(whole.stdout).toContain(`magic eval ${run('whole')} --split test`)
    expect(whole.stdout + whole.stderr).not.toContain('\u001b')
    for (const name of ['run.json', 'membership.json', 'events.jsonl', 'trajectories.jsonl', 'ledger.sqlite'])
      expect(existsSync(join(run('whole'), name))).toBe(true)
  })

  test('a finished run has nothing to resume', async () => {
    const { code, stdout, stderr } = await magic('resume', run('whole'), '--json')
    expect(code).toBe(0)
    expect(stderr).toBe('')
    const result = JSON.parse(stdout)
    expect(result).toMatchObject({
      status: 'finished',
      done: 4,
      simulated: true,
      score: { recent: { n: 4 } },
    })
    expect(result.spent.calls).toBeGreaterThan(10)
  })

  test('a taken name is refused, and the existing run is kept', async () => {
    const before = finalState('whole')
    const { code, stderr } = await magic(...training('whole'))
    expect(code).toBe(2)
    expect(stderr).toContain('magic resume')
    expect(finalState('whole')).toEqual(before)
  })

  test('a dry run estimates and creates nothing', async () => {
    const { code, stdout } = await magic(...training('dry', '--dry-run', '--model', 'deepseek', '--json'))
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ model: 'deepseek/deepseek-v4-flash', updates: 4 })
    expect(existsSync(run('dry'))).toBe(false)
  })
})

describe('interrupted work continues', () => {
  test('a second trainer is refused by name, and a resume after SIGKILL reaches the same weights', async () => {
    // It holds its run, halted or not.
    const { name, child, outcome } = await haltedTraining('killed')
    const second = await magic('resume', name, '--runs-dir', runs)
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`process ${child.pid}`)
    expect(second.stderr).not.toContain('    at ')
    child.kill('SIGKILL')
    await outcome
    const { code, stdout, stderr } = await magic('resume', name, '--runs-dir', runs)
    expect(stderr).toMatch(/Resuming after [1-3] of 4 updates/)
    expect(stdout).toContain('finished, 4 updates')
    expect(code).toBe(0)
    expect(finalState(name)).toEqual(finalState('whole'))
  })

  test('the first Ctrl-C ends cleanly and says how to continue', async () => {
    const { name, child, outcome } = await haltedTraining('stopped')
    child.kill('SIGINT')
    child.kill('SIGCONT')
    const { code, stdout, stderr } = await outcome
    expect(code).toBe(130)
    expect(stderr).toContain('Press Ctrl-C again to quit at once')
    expect(stdout).toMatch(/interrupted after [1-3] of 4 updates/)
    expect(stdout).toContain(`magic resume ${run(name)}`)
  })

  test('a cap ends a run with its own code; a higher one continues to the same weights', async () => {
    const capped = await magic(...training('capped', '--max-calls', '20', '--json'))
    expect(capped.code).toBe(3)
    const result = JSON.parse(capped.stdout)
    expect(result).toMatchObject({ status: 'budget-reached', cap: { name: 'calls' }, folder: run('capped') })
    expect(result.done).toBeLessThan(4)
    expect(result.spent.calls - result.cap.overshoot).toBe(20)
    const resumed = await magic('resume', run('capped'), '--max-calls', '100000')
    expect(resumed.code).toBe(0)
    expect(finalState('capped')).toEqual(finalState('whole'))
  })
})

describe('magic verify', () => {
  test('accepts an untouched run', async () => {
    const { code, stdout } = await magic('verify', run('whole'))
    expect(code).toBe(0)
    expect(stdout).toContain('✓ scores in the ledger')
    expect(stdout).not.toContain('✗')
  })

  test('rejects a tampered run', async () => {
    const tampered = run('tampered')
    cpSync(run('whole'), tampered, { recursive: true })
    const weights = join(tampered, 'checkpoints', 'update-000004', 'policy.safetensors')
    const bytes = readFileSync(weights)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(weights, bytes)
    const plain = await magic('verify', tampered)
    expect(plain.code).toBe(1)
    expect(plain.stdout).toContain('✗ checkpoint 4')
    const { code, stdout } = await magic('verify', tampered, '--json')
    expect(code).toBe(1)
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { name: string; ok: boolean }[] }
    expect(ok).toBe(false)
    expect(checks.filter((check) => !check.ok).map(({ name }) => name)).toEqual(['checkpoint 4'])
  })
})

describe.concurrent('magic estimate', () => {
  test('uses the execution settings', async () => {
    const words = ['estimate', questions, '--updates', '2', '--json']
    const short = ['--set', 'execution.decoding.maxOutputTokens=20']
    const [usual, limited] = await Promise.all([magic(...words), magic(...words, ...short)])
    const expected = (outcome: Outcome) => JSON.parse(outcome.stdout).outputTokens.expected
    expect(expected(limited)).toBeLessThan(expected(usual))
  })

  test('prints calls, tokens and cost at a given price as JSON', async () => {
    const words = ['estimate', questions, '--updates', '2', '--json']
    const { code, stdout } = await magic(...words, '--price', 'openai/gpt-6-luna')
    expect(code).toBe(0)
    const { calls, cost, lengths, perQuestion } = JSON.parse(stdout)
    expect(lengths).toBe('simulated')
    expect(calls.low).toBeLessThan(calls.expected)
    expect(calls.expected).toBeLessThan(calls.high)
    expect(cost.expected.currency).toBe('USD')
    expect(perQuestion.cost.amount).toBeGreaterThan(0)
  })

  test('prints text for people; an unknown price is unpriced', async () => {
    const { code, stdout } = await magic('estimate', questions, '--updates', '1', '--price', 'acme/large')
    expect(code).toBe(0)
    expect(stdout).toMatch(/cost +unpriced +unpriced +unpriced/)
    expect(stdout).toContain('The price of acme/large is unknown')
    expect(stdout).toContain('run on the simulated model')
  })
})

describe.concurrent('a training that cannot start says why, spends nothing and leaves nothing', () => {
  const badRow = file('bad.jsonl', `${lines([{ question: 'How many?', answer: '4' }])}{"question": 5}\n`)
  const configuration = file('magic.config.ts', 'export default { tasks: "ferries.jsonl", preset: "papr" }\n')
  test.each([
    ['a missing file', ['train', 'none.jsonl'], 'there is no such file'],
    ['a bad row', ['train', badRow], 'row 2'],
    ['an unknown benchmark', ['train', 'gsm9k'], 'gsm8k'],
    ['a benchmark that is not here', ['train', 'gsm8k', '--data', join(folder, 'none')], 'magic data pull'],
    ['a setting out of range', ['train', questions, '--set', 'maxUnits=0'], 'maxUnits'],
    ['a bad configuration', ['train', '--config', configuration], 'preset'],
    ['a bad name', ['train', questions, '--name', '../out'], 'is not a valid run name'],
    ['a folder without an encoder', ['train', questions, '--encoder', folder], 'onnx'],
    ['no such run', ['resume', 'none'], 'There is no run'],
    ['no such checkpoint', ['resume', run('whole'), '--from-update', '1'], 'It has those of updates 3 and 4'],
  ])('%s', async (_name, words, reason) => {
    const { code, stdout, stderr } = await magicWith(
      { MAGIC_RUNS_DIR: join(folder, 'elsewhere'), HF_HUB_OFFLINE: '1' },
      ...words,
    )
    expect(stderr).toContain(reason)
    expect(stderr).not.toContain('    at ')
    expect(stdout).toBe('')
    expect(code).toBe(2)
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
  })

  test('a refused key has its own exit code', async () => {
    const server = await FaultServer.start()
    server.script('401')
    const words = ['--model', 'openai', '--model-name', 'm', '--base-url', server.url]
    const key = { OPENAI_API_KEY: 'sk-canary-4711' }
    const { code, stdout, stderr } = await magicWith(key, ...training('refused', ...words))
    await server.close()
    expect(code).toBe(5)
    expect(stderr).toContain('Check the API key')
    expect(stdout + stderr).not.toContain('canary')
    expect(existsSync(run('refused'))).toBe(false)
  })

  test('a runs folder that is a file is a disk error', async () => {
    const { code, stderr } = await magic('train', questions, ...small.slice(0, -1), questions)
    expect(code).toBe(6)
    expect(stderr).toContain(`${questions}/`)
    expect(stderr).not.toContain('    at ')
  })
})

describeShared('magic train on a real benchmark', () => {
  test('gsm8k', async () => {
    mkdirSync(runs, { recursive: true })
    const words = ['train', 'gsm8k', '--data', sharedPath('data'), '--train-size', '3', '--test-size', '3']
    const { code, stdout } = await magic(...words, ...small, '--updates', '2', '--json')
    expect(code).toBe(0)
    const { folder: path, done } = JSON.parse(stdout)
    expect(path).toMatch(/\/gsm8k-\d{8}-\d{4}$/)
    expect(done).toBe(2)
  })
})
