import type { JsonValue } from '../../library/json-value.ts'
import type { ProgramTest } from '../../library/task.ts'
import { type Line, type Numbers, results, selections, transformations } from './code-steps.ts'
import type { Dice } from './dice.ts'
import type { QuestionMaker } from './synthetic-question.ts'

/** Three lines: the first two change the list, the last one computes the result. */
type Program = readonly [Line<Numbers>, Line<Numbers>, Line<JsonValue>]

/**
 * Small programming tasks: a function that selects from a list, transforms the rest and returns a result. A wrong
 * program has a slip in one line and fails a hidden test.
 */
export const codeQuestions: readonly QuestionMaker[] = results.map((result) => (dice: Dice) => {
  const [first, second, last] = [dice.pick(selections)(dice), dice.pick(transformations)(dice), result(dice)]
  const { entryPoint, returns } = last
  const right: Program = [first.right, second.right, last.right]
  const wrong: readonly Program[] = [
    [first.right, second.right, last.slip],
    [first.slip, second.right, last.right],
    [first.right, second.slip, last.right],
  ]
  const tests = chooseTests(dice, right, wrong)
  if (tests === undefined) return undefined
  const { open, hidden } = tests
  const signature = `def ${entryPoint}(values: list[int]) -> ${returns}:`
  const source = ([a, b, c]: Program) =>
    `${signature}\n    values = ${a.python}\n    values = ${b.python}\n    return ${c.python}\n`
  const program = { mode: 'function', starterCode: `${signature}\n    pass\n`, entryPoint } as const
  return {
    task: {
      question: `Write a Python function \`${entryPoint}(values)\` for a list of whole numbers. It ${first.says}, then ${second.says}, and returns ${last.says}.`,
      program,
      publicTests: open,
    },
    reference: { kind: 'livecodebench', program, publicTests: open, privateTests: JSON.stringify(hidden) },
    solution: { answer: source(right), wrong: wrong.map(source) },
  }
})

/** What the program returns, as JSON. */
function run([first, second, last]: Program, values: Numbers): string {
  return JSON.stringify(last.run(second.run(first.run(values))))
}

const triedInputs = 60

/**
 * Every wrong program must fail a hidden test; if no inputs show this, there are no tests. The first public test is
 * arbitrary, the others are the most lenient to wrong programs: passing them proves little.
 */
function chooseTests(
  dice: Dice,
  right: Program,
  wrong: readonly Program[],
): { open: readonly ProgramTest[]; hidden: readonly ProgramTest[] } | undefined {
  const inputs = new Map<string, Numbers>()
  for (let tried = 0; tried < triedInputs; tried += 1) {
    const values = Array.from({ length: dice.integer(0, 9) }, () => dice.integer(0, 40))
    inputs.set(JSON.stringify(values), values)
  }
  const trials = [...inputs].map(([input, values]) => {
    const output = run(right, values)
    const test: ProgramTest = { testtype: 'functional', input, output }
    return { test, exposed: wrong.map((program) => run(program, values) !== output) }
  })
  const exposing = wrong.map((_, index) => trials.find(({ exposed }) => exposed[index]))
  if (exposing.includes(undefined)) return undefined
  const needed = new Set(exposing)
  const [any, ...others] = trials.filter((trial) => !needed.has(trial))
  const missed = ({ exposed }: (typeof trials)[number]) => exposed.filter((shown) => shown).length
  const kind = [...others].sort((a, b) => missed(a) - missed(b) || b.test.input.length - a.test.input.length)
  // Public tests that all return the same would say too little about the task.
  const second = kind.find(({ test }) => test.output !== any.test.output)
  if (second === undefined) return undefined
  const kindest = [...new Set([second, ...kind])].slice(0, dice.integer(1, 2))
  const more = others.filter((trial) => !kindest.includes(trial)).slice(0, 7)
  const hidden = [...needed, ...more].map((trial) => trial!.test)
  return { open: [any, ...kindest].map(({ test }) => test), hidden: dice.shuffle(hidden) }
}
