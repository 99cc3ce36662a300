import { expect, test } from 'vitest'
import { codeString } from '../../library/answer-contract.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { scoreProgram } from '../../tasks/scoring/code/score-program.ts'
import type { LivecodebenchReference } from '../../tasks/scoring/reference.ts'
import { decodeTests } from '../../tasks/sources/program-tests.ts'
import { codeQuestions } from './code.ts'
import { selections, transformations } from './code-steps.ts'
import { Dice } from './dice.ts'
import { questionSequence } from './question-sequence.ts'

// Enough to cover every step.
const questions = questionSequence(7, 'code', codeQuestions, 50)

test('results alternate, and every step occurs', () => {
  const trained = questions.filter((_, number) => number % 2 === 0).slice(0, codeQuestions.length)
  const names = trained.map(({ task }) => task.program?.mode === 'function' && task.program.entryPoint)
  expect(new Set(names).size).toBe(codeQuestions.length)
  const withoutNumbers = (text: string) => text.replace(/\d+/g, 'n')
  const asked = questions.map(({ task }) => withoutNumbers(task.question))
  const dice = new Dice(deriveRandom(0, 'any'))
  for (const step of [...selections, ...transformations]) {
    const { says } = step(dice)
    expect(
      asked.some((question) => question.includes(withoutNumbers(says))),
      says,
    ).toBe(true)
  }
})

test('tests have the promised number, and hidden ones differ from public ones', () => {
  for (const { task, reference } of questions) {
    const hidden = decodeTests((reference as LivecodebenchReference).privateTests)
    const open = task.publicTests!
    expect(open.length).toBeGreaterThanOrEqual(2)
    expect(open.length).toBeLessThanOrEqual(3)
    expect(hidden.length).toBeGreaterThanOrEqual(6)
    expect(hidden.length).toBeLessThanOrEqual(12)
    expect(new Set([...open, ...hidden].map(({ input }) => input)).size).toBe(open.length + hidden.length)
  }
})

test('the question does not show the program', () => {
  for (const { task, solution } of questions) {
    const [, ...body] = (solution.answer as string).trim().split('\n')
    const shown = JSON.stringify(task)
    for (const line of body)
      if (/ return \w+ | in |lambda/.test(line)) expect(shown).not.toContain(line.trim())
  }
})

test('every question has distinct wrong programs', () => {
  for (const { solution } of questions) {
    const programs = [solution.answer, ...solution.wrong!]
    expect(programs).toHaveLength(4)
    expect(new Set(programs).size).toBe(programs.length)
    for (const program of programs) expect(codeString.check(program).verdict).toBe('fits')
  }
})

test('in the sandbox every solution passes and every wrong program fails', async () => {
  const pool = new SandboxPool({ concurrency: 2 })
  const verdicts = await Promise.all(
    questions.flatMap(({ reference, solution }) =>
      [solution.answer, ...solution.wrong!].map(async (program, index) => {
        const { status } = await scoreProgram(pool, program, reference as LivecodebenchReference)
        const wanted = index === 0 ? status === 'passed' : /failed_tests|runtime_error/.test(status)
        return wanted ? undefined : { status, program }
      }),
    ),
  )
  expect(verdicts.filter((verdict) => verdict !== undefined)).toEqual([])
})
