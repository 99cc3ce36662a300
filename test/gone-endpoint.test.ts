import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SqliteLedger } from '../src/store/ledger/sqlite.ts'
import { type Fault, FaultServer } from './faults/fault-server.ts'
import { magicWith, type Outcome } from './magic.ts'
import { learned } from './tiny-training.ts'

// An endpoint that changes its behaviour while commands run: that must never become a result. Every status
// in every place takes minutes, so `npm test` takes one of each kind; `npm run test:faults` takes them all.
const runsAllFaults = process.env['MAGIC_TEST_FAULTS'] === 'all'

const folder = mkdtempSync(join(tmpdir(), 'magic-gone-'))
const place = (name: string) => join(folder, name)
const questions = place('ferries.jsonl')
writeFileSync(
  questions,
  Array.from({ length: 10 }, (_, index) => {
    const [trips, cars] = [index + 2, index + 5]
    const question = `A ferry makes ${trips} trips with ${cars} cars each. How many cars cross?`
    return `${JSON.stringify({ id: `ferry-${index}`, question, answer: String(trips * cars) })}\n`
  }).join(''),
)

let server: FaultServer
const magic = (...words: string[]): Promise<Outcome> =>
  magicWith({ OPENAI_API_KEY: 'sk-canary-4711', MAGIC_RUNS_DIR: folder }, ...words)

function training(name: string, ...more: string[]): Promise<Outcome> {
  const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2', '--updates', '3']
  const model = ['--model', 'openai', '--model-name', 'm', '--base-url', server.url]
  return magic('train', questions, ...small, ...model, '--name', name, ...more)
}

/** Right or wrong depending only on the request, so that runs can be compared. */
function answer(body: string) {
  const { content } = (JSON.parse(body) as { messages: { content: string }[] }).messages[1]!
  const user = JSON.parse(content) as { task?: { question?: string }; executor?: { part: string } }
  const [trips = 0, cars = 0] = (user.task?.question?.match(/\d+/g) ?? []).map(Number)
  const isRight = createHash('sha256').update(content).digest()[0]! % 3 > 0
  const said = { analysis: 'Multiplied.', answer: String(trips * cars + (isRight ? 0 : 1)) }
  const isFinal = user.executor?.part === 'finalizer' || user.executor?.part === 'direct'
  return {
    content: JSON.stringify(isFinal ? said : { kind: 'content', content: said }),
    promptTokens: content.length,
    completionTokens: 20,
  }
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/)
}

/** Whether a request is an earlier one with some words left out. */
function isNearCopy(words: readonly string[], earlier: readonly string[]): boolean {
  const leftOut = earlier.length - words.length
  if (leftOut < 1 || leftOut > 10) return false
  let at = 0
  for (const word of earlier) if (word === words[at]) at += 1
  return at === words.length
}

/** Scores by graph and task. */
async function scores(name: string): Promise<Map<string, number>> {
  const ledger = await SqliteLedger.open(join(place(name), 'ledger.sqlite'), { readOnly: true })
  const found = new Map<string, number>()
  for await (const { key, evaluation } of ledger.entries())
    found.set(`${key.graph} ${key.task}`, evaluation.score)
  await ledger.close()
  return found
}

function expectGone({ code, stdout, stderr }: Outcome): void {
  expect(stderr).toMatch(/The model (?:is gone|could not be reached|does not answer)/)
  expect(stderr).toContain('magic doctor')
  expect(stdout + stderr).not.toMatch(/ {4}at |canary|finished/)
  expect(code).toBe(7)
}

let asked: number
beforeAll(async () => {
  server = await FaultServer.start()
  server.answer(answer)
  server.plan(() => 'ok')
  expect((await training('whole')).code).toBe(0)
  asked = server.attempts.length
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The first needs a control call to classify, the second stops a run by itself, the third is retried. */
const kinds: readonly Fault[] = ['422', '404', '408']
const statuses: readonly Fault[] = runsAllFaults ? ['400', '413', '418', ...kinds] : kinds

describe('training', () => {
  test.each(statuses)(
    '%s from the middle on stops it, and a resume reaches the same weights',
    async (fault) => {
      const name = `gone-${fault}`
      server.plan((number) => (number < asked / 2 ? 'ok' : fault))
      expectGone(await training(name))
      const stored = await scores(name)
      expect(stored.size).toBeGreaterThan(3)
      const whole = await scores('whole')
      for (const [key, score] of stored) expect(score).toBe(whole.get(key))
      expect((await magic('verify', name)).code).toBe(0)

      server.plan(() => fault)
      expectGone(await magic('resume', name))
      expect(await scores(name)).toEqual(stored)

      server.plan(() => 'ok')
      expect((await magic('resume', name)).code).toBe(0)
      expect(learned(place(name))).toEqual(learned(place('whole')))
      expect((await magic('verify', name)).code).toBe(0)
    },
  )

  test('an endpoint that only accepts short requests, such as the self-check, is dead too', async () => {
    server.plan((number, body) => (number >= asked / 2 && body.length > 1500 ? '413' : 'ok'))
    expectGone(await training('short'))
    server.plan((_number, body) => (body.length > 1500 ? '413' : 'ok'))
    expectGone(await magic('resume', 'short'))
    const whole = await scores('whole')
    for (const [key, score] of await scores('short')) expect(score).toBe(whole.get(key))
  })

  test.each<Fault>(['too_long_400', 'refused_422'])(
    '%s to all but control calls stops it, and a resume reaches the same weights',
    async (fault) => {
      const name = `control-calls-only-${fault}`
      const answered: string[][] = []
      const isControl = (body: string) =>
        body.includes('You check that a connection works') ||
        answered.some((words) => isNearCopy(wordsOf(body), words))
      server.plan((number, body) => {
        if (number < asked / 2) answered.push(wordsOf(body))
        return number < asked / 2 || isControl(body) ? 'ok' : fault
      })
      expectGone(await training(name))
      const stored = await scores(name)
      const whole = await scores('whole')
      expect(stored.size).toBeGreaterThan(3)
      for (const [key, score] of stored) expect(score).toBe(whole.get(key))

      server.plan((_number, body) => (isControl(body) ? 'ok' : fault))
      expectGone(await magic('resume', name))
      expect(await scores(name)).toEqual(stored)

      server.plan(() => 'ok')
      expect((await magic('resume', name)).code).toBe(0)
      expect(learned(place(name))).toEqual(learned(place('whole')))
    },
  )

  test('an endpoint that only answers from a cache is dead', async () => {
    const answered = new Set<string>()
    server.plan((number, body) => {
      if (number < asked / 2) answered.add(body)
      return answered.has(body) ? 'ok' : 'too_long_400'
    })
    expectGone(await training('cached'))
    const whole = await scores('whole')
    for (const [key, score] of await scores('cached')) expect(score).toBe(whole.get(key))
  })

  test('an endpoint that rejects every other request does no harm', async () => {
    server.plan((number) => (number % 2 === 1 ? '400' : 'ok'))
    let { code } = await training('alternating')
    // Each resume gets a little further; how far depends on which requests coincide.
    for (let resumes = 0; code === 7 && resumes < 300; resumes += 1)
      code = (await magic('resume', 'alternating')).code
    expect(code).toBe(0)
    expect(learned(place('alternating'))).toEqual(learned(place('whole')))
  })

  test.each<Fault>(runsAllFaults ? ['413', '400'] : ['413'])(
    '%s for certain questions is a result, at any concurrency',
    async (fault) => {
      server.plan((_number, body) => (/makes [468] trips/.test(body) ? fault : 'ok'))
      const [name, other] = [`picky-${fault}`, `picky-alone-${fault}`]
      expect((await training(name, '--set', 'rewards.callPenalty=0.01')).code).toBe(0)
      expect((await training(other, '--set', 'rewards.callPenalty=0.01', '--concurrency', '1')).code).toBe(0)
      expect(learned(place(name))).toEqual(learned(place(other)))
      const stored = await scores(name)
      expect([...stored].filter(([key]) => /ferry-[246]$/.test(key)).every(([, score]) => score === 0)).toBe(
        true,
      )
      expect((await magic('verify', name)).code).toBe(0)
    },
  )

  test.each<Fault>(runsAllFaults ? ['400', '404', '408'] : ['400'])(
    '%s before it begins has the same exit code',
    async (fault) => {
      server.plan(() => fault)
      const outcome = await training(`never-${fault}`)
      expectGone(outcome)
      expect(outcome.stderr).not.toContain('resume')
      expect(existsSync(place(`never-${fault}`))).toBe(false)
    },
  )
})

describe('evaluation', () => {
  const evaluate = (name: string) => {
    cpSync(place('whole'), place(name), { recursive: true })
    return magic('eval', name, '--split', 'train', '--organisation', 'group-at-use', '--concurrency', '2')
  }
  const scored = (name: string) => {
    const file = join(place(name), 'evaluations', 'train-trained-group-at-use', 'records.jsonl')
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const records = lines.map((line) => JSON.parse(line) as { task: string; score: number })
    return new Map(records.map(({ task, score }) => [task, score]))
  }
  let whole: ReadonlyMap<string, number>
  let calls: number
  beforeAll(async () => {
    server.plan(() => 'ok')
    expect((await evaluate('evaluated')).code).toBe(0)
    whole = scored('evaluated')
    calls = server.attempts.length
  })

  test.each<Fault>(runsAllFaults ? [...statuses, 'redirect'] : ['422', 'redirect'])(
    '%s from the middle on stops it, and it continues later',
    async (fault) => {
      const name = `evaluated-${fault}`
      server.plan((number) => (number < calls / 2 ? 'ok' : fault))
      expectGone(await evaluate(name))
      const stored = scored(name)
      expect(stored.size).toBeLessThan(whole.size)
      for (const [task, score] of stored) expect(score).toBe(whole.get(task))
      server.plan(() => 'ok')
      expect((await evaluate(name)).code).toBe(0)
      expect(scored(name)).toEqual(whole)
    },
  )
})

describe('a single question', () => {
  test.each<Fault>(runsAllFaults ? ['404', '408', '418'] : ['418'])(
    '%s: no answer, and the same exit code',
    async (fault) => {
      server.plan(() => fault)
      const { code, stdout } = await magic('ask', 'whole', 'How many?', '--json')
      expect(JSON.parse(stdout)).toMatchObject({ answer: null })
      expect(code).toBe(7)
    },
  )
})
