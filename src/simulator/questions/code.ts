import type { JsonValue } from '../../library/json-value.ts'
import type { ProgramTest } from '../../library/task.ts'
import type { CodeProblem, ProblemTemplate, Program } from './code/code-problem.ts'
import { listProblems } from './code/list-problems.ts'
import { numberProblems } from './code/number-problems.ts'
import { recordProblems } from './code/record-problems.ts'
import { textProblems } from './code/text-problems.ts'
import type { Draw } from './draw.ts'
import type { QuestionMaker, SyntheticQuestion } from './synthetic-question.ts'

/** Small programming tasks: a function, a few public tests, and hidden ones that every wrong program fails. */
export const code: readonly QuestionMaker[] = [
  ...numberProblems,
  ...listProblems,
  ...textProblems,
  ...recordProblems,
].map((template: ProblemTemplate) => (draw, isNew) => codeQuestion(draw, template(draw), isNew))

const triedInputs = 60

function codeQuestion(
  draw: Draw,
  problem: CodeProblem,
  isNew: (question: string) => boolean,
): SyntheticQuestion | undefined {
  const { entryPoint, parameters, returns, statement, right, wrong } = problem
  const names = parameters.map((parameter) => parameter.split(':')[0]).join(', ')
  const question = `Write a Python function \`${entryPoint}(${names})\` ${statement}`
  const tests = isNew(question) ? chooseTests(draw, problem) : undefined
  if (tests === undefined) return undefined
  const signature = `def ${entryPoint}(${parameters.join(', ')}) -> ${returns}:`
  const source = ({ body }: Program) => `${signature}\n${body.replace(/^(?=.)/gm, '    ')}\n`
  const program = { mode: 'function', starterCode: `${signature}\n    pass\n`, entryPoint } as const
  return {
    task: { question, program, publicTests: tests.open },
    reference: {
      kind: 'livecodebench',
      program,
      publicTests: tests.open,
      privateTests: JSON.stringify(tests.hidden),
    },
    solution: { answer: source(right), wrong: wrong.map(source) },
  }
}

interface ChosenTests {
  readonly open: readonly ProgramTest[]
  readonly hidden: readonly ProgramTest[]
}

/**
 * Every wrong program fails a hidden test, as its twin tells; nothing comes back where no input shows it up. Of the public
 * tests the first is any, while the others are the kindest to wrong programs: passing them proves little, as in life.
 */
function chooseTests(draw: Draw, { right, wrong, input }: CodeProblem): ChosenTests | undefined {
  const inputs = new Map<string, readonly JsonValue[]>()
  for (let tried = 0; tried < triedInputs; tried += 1) {
    const drawn = input(draw)
    inputs.set(JSON.stringify(drawn), drawn)
  }
  const trials = [...inputs.values()].map((arguments_) => {
    const expected = result(right, arguments_)
    const test: ProgramTest = {
      testtype: 'functional',
      input: arguments_.map((value) => JSON.stringify(value)).join('\n'),
      output: expected,
    }
    return { test, exposed: wrong.map((program) => result(program, arguments_) !== expected) }
  })
  const exposing = wrong.map((_, index) => trials.find(({ exposed }) => exposed[index]))
  if (exposing.includes(undefined)) return undefined
  const needed = new Set(exposing)
  const rest = trials.filter((trial) => !needed.has(trial))
  const [any, ...others] = rest
  if (any === undefined || others.length === 0) return undefined
  const missed = ({ exposed }: (typeof trials)[number]) => exposed.filter((shown) => shown).length
  const kind = [...others].sort((a, b) => missed(a) - missed(b) || b.test.input.length - a.test.input.length)
  // Public tests that all return the same would tell too little about what is asked.
  const second = kind.find(({ test }) => test.output !== any.test.output)
  const kindest = [...new Set([second ?? kind[0]!, ...kind])].slice(0, draw.integer(1, 2))
  const more = others.filter((trial) => !kindest.includes(trial)).slice(0, draw.integer(6, 8))
  const hidden = [...needed, ...more].slice(0, 11).map((trial) => trial!.test)
  if (hidden.length < 6 || new Set(hidden.map(({ output }) => output)).size < 2) return undefined
  return { open: [any, ...kindest].map(({ test }) => test), hidden: draw.shuffle(hidden) }
}

function result({ run }: Program, input: readonly JsonValue[]): string {
  return JSON.stringify(run(...(input as readonly never[])))
}
