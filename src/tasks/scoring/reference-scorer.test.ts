import { expect, test } from 'vitest'
import { oneAtATime } from '../../../test/one-at-a-time.ts'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { knownTasks } from '../../simulator/model/known-task.ts'
import { benchmarkTaskSet } from '../studies/benchmark-task-set.ts'
import { splitOf } from '../task-set.ts'
import type { HumanevalReference, LivecodebenchReference, Reference } from './reference.ts'
import { referenceScorer } from './reference-scorer.ts'

oneAtATime()
const pool = new SandboxPool({ concurrency: 2 })
const scorer = referenceScorer()

test.each([
  [{ kind: 'choice', label: 'C' }, 'C'],
  [{ kind: 'boolean', value: false }, 'false'],
  [{ kind: 'number-text', text: '-1,234' }, '-1234'],
  [
    { kind: 'tatqa', answerType: 'arithmetic', answers: ['2.0'], scale: 'percent' },
    { values: ['2.0'], scale: 'percent' },
  ],
] as const satisfies [Reference, unknown][])('%j is solved by %j', async (reference, answer) => {
  expect(scorer.needsSandbox!(reference)).toBe(false)
  expect(scorer.solution!(reference)).toEqual({ answer })
  expect(await scorer.score(answer, reference, {})).toMatchObject({ score: 1 })
})

const secret: HumanevalReference = {
  kind: 'humaneval',
  prompt: 'def f(x):\n    """ The same. """\n',
  entryPoint: 'f',
  test: 'def check(candidate):\n    assert candidate(3) == 3\n',
  solution: { program: 'def f(x):\n    return x  # hidden-solution\n', wrong: ['hidden-wrong'] },
}

test('a program is scored in the sandbox, and is an error without one', async () => {
  expect(scorer.needsSandbox!(secret)).toBe(true)
  expect(scorer.solution!(secret)).toEqual({ answer: secret.solution!.program, wrong: ['hidden-wrong'] })
  expect(await scorer.score(secret.solution!.program, secret, { pool })).toMatchObject({ score: 1 })
  expect(() => scorer.score('def f(x): return x', secret, {})).toThrow(/there is no sandbox/)
  const { solution: _, ...unsolved } = secret
  expect(scorer.solution!(unsolved)).toBeUndefined()
})

const privateTest = { input: '4', output: '4', testtype: 'functional' as const }
const secretLivecodebench: LivecodebenchReference = {
  kind: 'livecodebench',
  program: { mode: 'function', starterCode: '', entryPoint: 'f' },
  publicTests: [{ ...privateTest, input: '3', output: '3' }],
  privateTests: JSON.stringify([privateTest]),
  solution: secret.solution!,
}

// The search is proven on a text that is there: from HumanEval's prompt, or from the program itself.
test.each([
  ['humaneval', secret, 'The same.'],
  ['livecodebench', secretLivecodebench, 'its own text'],
] as const)('%s: the solution does not reach the sandbox', async (_, reference, control) => {
  // Right only if it finds the text anywhere in its process; the needle is assembled so that it does not
  // find itself.
  const searches = (needle: string) => `
import gc
OWN = ['here is its own text']
NEEDLE = ${JSON.stringify(needle.slice(0, 3))} + ${JSON.stringify(needle.slice(3))}
def texts(value, depth=0):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for inner in list(value.values()):
            yield from texts(inner, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4:
        for inner in list(value):
            yield from texts(inner, depth + 1)
FOUND = any(NEEDLE in text and text != NEEDLE for value in gc.get_objects() for text in texts(value))
def f(x):
    return x if FOUND else None
`
  expect(await scorer.score(searches(control), reference, { pool })).toMatchObject({ score: 1 })
  expect(await scorer.score(searches('hidden-'), reference, { pool })).toMatchObject({ score: 0 })
})

describeShared('benchmark programs', () => {
  test('HumanEval and LiveCodeBench: solutions pass, wrong and empty programs fail', async () => {
    const data = sharedPath('data')
    const set = await benchmarkTaskSet('humaneval', { data, test: 6 })
    for (const { tasks, references } of Object.values(set.splits))
      for (const { id } of tasks) {
        const reference = references.get(id)!
        const { answer, wrong = ['pass'] } = set.scorer.solution!(reference)!
        expect(await set.scorer.score(answer, reference, { pool }), id).toMatchObject({
          status: 'passed',
          score: 1,
        })
        for (const one of wrong)
          expect(await set.scorer.score(one, reference, { pool }), id).toMatchObject({ score: 0 })
        for (const one of ['', null, 1, { program: answer }])
          expect(await set.scorer.score(one, reference, { pool })).toMatchObject({
            score: 0,
            parse: 'invalid',
          })
      }
  })

  test('no task contains its solution; the simulated model gets them separately', async () => {
    const set = await benchmarkTaskSet('humaneval', { data: sharedPath('data') })
    const known = knownTasks(set)
    expect(known).toHaveLength(172)
    for (const { task, answer } of known) {
      const shown = JSON.stringify(task)
      const hidden = String(answer).replace(task.question, '')
      expect(hidden.length, task.id).toBeGreaterThan(8)
      expect(shown.includes(JSON.stringify(hidden).slice(1, -1)), task.id).toBe(false)
    }
    expect(splitOf(set, 'test').tasks.every((task) => Object.keys(task).length === 4)).toBe(true)
  })
})
