import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSimulated } from '../../src/simulator/server/open-simulated.ts'
import { readLines } from '../../src/store/durable-file.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { magic, magicProcess } from '../magic.ts'
import { learned } from '../tiny-training.ts'

const runs = mkdtempSync(join(tmpdir(), 'magic-cli-learners-'))
afterAll(() => rmSync(runs, { recursive: true, force: true }))

const questions = join(runs, 'ferries.jsonl')
writeFileSync(
  questions,
  Array.from({ length: 10 }, (_, index) => {
    const question = `A ferry makes ${index + 2} trips with ${index + 5} cars each. How many cars cross?`
    return `${JSON.stringify({ id: `ferry-${index}`, question, answer: String((index + 2) * (index + 5)) })}\n`
  }).join(''),
)

/**
 * Small trainings of a few updates, each with two places to kill it: among evaluations, files and optimizer
 * steps.
 */
const systems = {
  gptswarm: ['iterations=5:batch=2', 'after:evaluation:3', 'after:events:2'],
  'g-designer': ['iterations=4:batch=2', 'after:call:9', 'before:events:2'],
  'mas-router': ['epochs=2:batch=4:costRate=0:maxAgents=2:hidden=8', 'before:events:1', 'after:evaluation:2'],
  'eib-learner': ['iterations=3:batch=2:rounds=2:hidden=8', 'after:call:7', 'after:checkpoint:1'],
  'arg-designer': ['questions=3:epochs=20:hidden=8', 'after:call:11', 'after:events:3'],
  'go-agent': ['questions=2:epochs=20', 'after:evaluation:4', 'after:checkpoint:2'],
  'r-gfm': ['questions=3:epochs=20:hidden=8:candidates=3', 'before:events:2', 'after:checkpoint:3'],
  'search-then-sft': ['passes=1:stages=3:hidden=8:maxUnits=2', 'after:evaluation:9', 'before:events:2'],
} as const
type System = keyof typeof systems
const training = (system: System, name: string) => [
  ...['train', questions, '--organisation', `${system}:${systems[system][0]}`, '--encoder', 'lexical'],
  ...['--name', name, '--runs-dir', runs],
]

const done = new Map<System, Promise<unknown>>()
/** A complete training, done once for all tests. */
async function trained(system: System): Promise<void> {
  const whole = done.get(system) ?? magic(...training(system, system))
  done.set(system, whole)
  expect(await whole).toMatchObject({ code: 0 })
}

// Tests below need both.
beforeAll(async () => {
  await trained('gptswarm')
  await trained('r-gfm')
})

test.each(Object.keys(systems) as System[])(
  '%s: killed twice, it resumes to the same weights',
  async (system) => {
    await trained(system)
    const [, first, second] = systems[system]
    const name = `${system}-killed`
    const killed = await magicProcess({ env: { MAGIC_FAIL: first } }, ...training(system, name))
    expect(killed.signal).toBe('SIGKILL')
    const again = await magicProcess({ env: { MAGIC_FAIL: second } }, 'resume', name, '--runs-dir', runs)
    expect(again.signal).toBe('SIGKILL')
    expect(await magic('resume', name, '--runs-dir', runs)).toMatchObject({ code: 0 })
    const [one, other] = [learned(join(runs, name)), learned(join(runs, system))]
    expect(one.weights.equals(other.weights)).toBe(true)
    expect(one.moments.equals(other.moments)).toBe(true)
    expect(one.trajectories).toBe(other.trajectories)
  },
)

describe.each(['gptswarm', 'r-gfm'] as const)('%s', (system) => {
  test('what it learned is evaluated, asked, shown and exported like a policy', async () => {
    const evaluated = await magic(
      ...[
        'eval',
        system,
        '--organisation',
        'trained,untrained,direct',
        '--limit',
        '4',
        '--json',
        '--runs-dir',
        runs,
      ],
    )
    expect(evaluated.code).toBe(0)
    expect(JSON.stringify(JSON.parse(evaluated.stdout))).toContain('"untrained"')
    const shown = await magic('show', system, '--runs-dir', runs)
    expect(shown.stdout).toContain(`${system}: `)
    expect(shown.stdout).not.toContain('NaN')
    const asked = await magic('ask', system, 'What is 2 + 3?', '--json', '--runs-dir', runs)
    expect(JSON.parse(asked.stdout)).toMatchObject({ status: 'answered', steps: [] })
    const archive = join(runs, `${system}.tgz`)
    const exported = await magic('export', system, '--to', archive, '--runs-dir', runs)
    expect(exported.code, exported.stderr).toBe(0)
    expect(existsSync(archive)).toBe(true)
    const again = await magic('ask', archive, 'What is 2 + 3?', '--json', '--runs-dir', runs)
    expect(JSON.parse(again.stdout).key).toBe(JSON.parse(asked.stdout).key)
  })
})

test('beside others it is named with its training run, and refused without one', async () => {
  const refused = await magic(
    'eval',
    'r-gfm',
    '--organisation',
    'gptswarm',
    '--limit',
    '2',
    '--runs-dir',
    runs,
  )
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('gptswarm:run=NAME')
  const beside = await magic(
    ...['eval', 'r-gfm', '--organisation', `trained,gptswarm:run=${join(runs, 'gptswarm')}`, '--limit', '2'],
    ...['--runs-dir', runs, '--json'],
  )
  expect(beside.code, beside.stderr).toBe(0)
  // Run names are resolved in the folder given by --runs-dir.
  for (const more of [[], ['--dry-run']]) {
    const named = await magic(
      ...['eval', 'r-gfm', '--organisation', 'gptswarm:run=gptswarm', '--limit', '2', ...more],
      ...['--runs-dir', runs, '--json'],
    )
    expect(named.code, named.stderr).toBe(0)
  }
  const trial = await magic(
    ...['eval', 'r-gfm', '--organisation', 'dylan:teamSelection=paper:trial=gptswarm', '--dry-run'],
    ...['--runs-dir', runs],
  )
  expect(trial.stderr).toContain(`The trial in ${join(runs, 'gptswarm')} only has the importance of 0 roles`)
})

test('policy settings are refused, and a cap ends it', async () => {
  const wrong = await magic(...training('gptswarm', 'wrong'), '--updates', '3')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('Only policies have updates')
  const capped = await magic(...training('gptswarm', 'capped'), '--max-calls', '10')
  expect(capped.code).toBe(3)
  expect(new RunFolder(join(runs, 'capped')).checkpoints().at(-1)).toBeLessThan(5)
  expect(await magic('resume', 'capped', '--max-calls', '10000', '--runs-dir', runs)).toMatchObject({
    code: 0,
  })
  expect(learned(join(runs, 'capped')).weights.equals(learned(join(runs, 'gptswarm')).weights)).toBe(true)
})

describe('a pool of models', () => {
  const router = ['--organisation', 'mas-router:costRate=0:epochs=1:batch=4:hidden=8:maxAgents=2']
  const pool = ['--models', 'simulated/1,simulated/2']

  test('is chosen from, stored with the run, and restored', async () => {
    const words = ['--encoder', 'lexical', '--name', 'pool', '--runs-dir', runs]
    const { code, stderr } = await magic('train', questions, ...router, ...pool, ...words)
    expect(code, stderr).toBe(0)
    const { models, organisation } = new RunFolder(join(runs, 'pool')).readRecord()
    expect(Object.keys(models!)).toEqual(['simulated/1', 'simulated/2'])
    expect(organisation!.options['models']).toMatchObject([{ name: 'simulated/1' }, { name: 'simulated/2' }])
    const evaluated = await magic('eval', 'pool', '--limit', '3', '--json', '--runs-dir', runs)
    expect(evaluated.code, evaluated.stderr).toBe(0)
    const folder = JSON.parse(evaluated.stdout).evaluations[0].folder as string
    expect(readFileSync(join(folder, 'records.jsonl'), 'utf8')).toMatch(/"model":"simulated\/[12]"/)
    expect(await magic('verify', 'pool', '--runs-dir', runs)).toMatchObject({ code: 0 })
    const asked = await magic('ask', 'pool', 'What is 2 + 3?', '--json', '--runs-dir', runs)
    expect(asked.code, asked.stderr).toBe(0)
  })

  test('prices each call by its own model', async () => {
    await using server = await openServer()
    const rate = { currency: 'EUR', asOf: '2026-11', cachedInput: 1, output: 1 }
    const at = (preset: string) => ({ preset, model: 'simulated', baseURL: server.url })
    const configuration = {
      tasks: questions,
      model: {
        ...at('vllm'),
        prices: { 'vllm/simulated': { ...rate, input: 1 }, 'llama.cpp/simulated': { ...rate, input: 1000 } },
      },
      models: { small: at('vllm'), large: { ...at('llama.cpp'), description: 'good at sums' } },
    }
    const config = join(runs, 'magic.config.json')
    writeFileSync(config, JSON.stringify(configuration))
    const words = ['--config', config, '--encoder', 'lexical', '--name', 'priced', '--runs-dir', runs]
    const { code, stderr } = await magic('train', ...router, ...words)
    expect(code, stderr).toBe(0)
    const lines = readLines(new RunFolder(join(runs, 'priced')).callsFile) as {
      end?: number
      used?: { input: number; cachedInput: number; output: number }
      cost?: { amount: number }
    }[]
    const ended = lines.filter(({ end, used }) => end !== undefined && used !== undefined)
    const dear = ended.filter(({ used, cost }) => {
      const { input, cachedInput, output } = used!
      const amount = (factor: number) => ((input - cachedInput) * factor + cachedInput + output) / 1e6
      const isDear = Math.abs(cost!.amount - amount(1000)) < 1e-12
      expect(isDear || Math.abs(cost!.amount - amount(1)) < 1e-12).toBe(true)
      return isDear
    })
    expect(dear.length).toBeGreaterThan(0)
    expect(dear.length).toBeLessThan(ended.length)
    const dry = await magic('train', ...router, ...words.slice(0, -4), '--dry-run', '--json')
    expect(JSON.parse(dry.stdout)).toMatchObject({ organisation: 'mas-router', models: ['small', 'large'] })
    const { cost, inputTokens, outputTokens } = JSON.parse(dry.stdout)
    const cheapest = (inputTokens.expected + outputTokens.expected) / 1e6
    expect(cost.expected.amount).toBeGreaterThan(10 * cheapest)
  })

  test('is refused if the organisation uses one model, or costs matter and one has no price', async () => {
    const words = [questions, '--encoder', 'lexical', '--runs-dir', runs, ...pool]
    const nobody = await magic('train', ...words, '--organisation', 'gptswarm')
    expect(nobody.stderr).toContain('gptswarm uses one model for all agents')
    const priceless = await magic('train', ...words, '--organisation', 'mas-router')
    expect(priceless.stderr).toContain('there is no price for simulated/simulated')
    expect(priceless.stderr).toContain('mas-router:costRate=0')
    const wrong = await magic('train', ...router, questions, '--models', 'nobody/x', '--runs-dir', runs)
    expect(wrong.stderr).toContain("'nobody/x' is no model")
  })
})

test('a dry run counts reuse when few questions recur', async () => {
  const words = ['train', questions, '--organisation', 'gptswarm:iterations=60', '--encoder', 'lexical']
  const dry = await magic(...words, '--runs-dir', runs, '--dry-run', '--json')
  const { calls } = JSON.parse(dry.stdout)
  const real = await magic(...words, '--runs-dir', runs, '--name', 'reusing', '--json')
  const { spent } = JSON.parse(real.stdout)
  expect(spent.calls).toBeGreaterThan(calls.low)
  expect(spent.calls).toBeLessThan(calls.high)
  expect(calls.expected / spent.calls).toBeLessThan(1.5)
})

test('a dry run estimates every system', async () => {
  for (const system of Object.keys(systems) as System[]) {
    const { code, stdout, stderr } = await magic(...training(system, 'dry'), '--dry-run', '--json')
    expect(code, stderr).toBe(0)
    const { organisation, calls, updates } = JSON.parse(stdout)
    expect(organisation).toBe(system)
    expect(updates).toBeGreaterThan(0)
    expect(calls.expected).toBeGreaterThan(0)
  }
  expect(existsSync(join(runs, 'dry'))).toBe(false)
})

/** The simulated model, which knows the questions, behind a URL. */
async function openServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const lines = readLines(questions) as { id: string; question: string; answer: string }[]
  const tasks = lines.map(({ answer, ...task }) => ({ task: { ...task, metadata: {} }, answer }))
  const opened = await openSimulated({ tasks })
  return { url: opened.url, [Symbol.asyncDispose]: () => opened.close() }
}
