// The two halves of an example: what solvers see, and what scorers compare with.
import type { AnswerContract } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Option, ProgramInterface, ProgramTest, Task } from '../../library/task.ts'
import { parsePythonJson } from '../../python/json.ts'
import { pythonStrip } from '../../python/text.ts'
import { optionLetter } from '../scoring/exact-match.ts'
import { scoreAnswer } from '../scoring/reference-scorer.ts'
import { DataError } from '../sources/data-error.ts'
import type { RecordPlace } from '../sources/records.ts'
import type { Solution } from '../task-set.ts'
import { type AnswerKind, comparedKinds } from './answer-kind.ts'
import { fitsContract, type OwnReference } from './own-scorer.ts'
import type { PlacedQuestion, Question } from './question.ts'

/** The public part of a question, picked field by field: anything else stays with the reference. */
export function publicTask({ question, at }: PlacedQuestion, id: string): Task {
  const { options, context, tables, publicTests } = question
  const program = programOf(question)
  return {
    id,
    question: question.question,
    options: options && labelled(options, at),
    context,
    tables,
    program,
    publicTests: publicTests && programTests(publicTests, program!, at, 'publicTests'),
    metadata: question.metadata ?? {},
  }
}

/** The hidden half of an example. The solution is kept apart from the reference, which is what scoring uses. */
interface HiddenPart {
  readonly reference: OwnReference
  readonly solution?: Solution
}

/** What a question's answers are scored against. Throws a `DataError` if something is wrong with them. */
export function hiddenPart(
  placed: PlacedQuestion,
  task: Task,
  kind: AnswerKind,
  tolerance: number,
): HiddenPart {
  if (kind === 'code') return programPart(placed)
  const { question, at } = placed
  if (question.answer === undefined)
    throw new DataError(`is missing, and answers are of the kind '${kind}'.`, at, 'answer')
  const compared = comparedKinds[kind]
  const read = (value: JsonValue, field: string): string => {
    const said = compared.read(value, task, question)
    if (said !== undefined) return said
    throw new DataError(`must be ${compared.expected(task)}; answers are of the kind '${kind}'.`, at, field)
  }
  const right = read(question.answer, 'answer')
  const reference = compared.reference(right, question.answer, tolerance)
  const isRight = (answer: string) => scoreAnswer(answer, reference).score === 1
  const solution = question.solution === undefined ? right : read(question.solution, 'solution')
  if (!isRight(solution))
    throw new DataError(
      'does not agree with the answer. Leave it out: the answer is the solution.',
      at,
      'solution',
    )
  const wrong = question.wrong?.map((value, index) => {
    const answer = read(value, `wrong[${index}]`)
    if (!isRight(answer)) return answer
    throw new DataError('is a right answer. Remove it, or correct the answer.', at, `wrong[${index}]`)
  })
  return { reference, solution: { answer: solution, wrong } }
}

/** For a user's own scorer. Only the scorer knows what is right, so an answer of the right form counts as a solution. */
export function givenPart({ question, at }: PlacedQuestion, contract: AnswerContract): HiddenPart {
  const { answer = null, tests, test, wrong, metadata = {} } = question
  const reference: OwnReference = {
    kind: 'given',
    answer,
    question: question.question,
    metadata,
    tests: tests && programTests(tests, programOf(question)!, at, 'tests'),
    test,
  }
  const right = question.solution ?? (fitsContract(answer, contract) ? answer : undefined)
  return { reference, solution: right === undefined ? undefined : { answer: right, wrong } }
}

function programPart({ question, at }: PlacedQuestion): HiddenPart {
  const { tests, test, publicTests = [], wrong } = question
  const source = question.solution ?? question.answer
  const programs: [field: string, value: JsonValue | undefined][] = [
    [question.solution === undefined ? 'answer' : 'solution', source],
    ...(wrong ?? []).map((one, index): [string, JsonValue] => [`wrong[${index}]`, one]),
  ]
  for (const [field, value] of programs)
    if (value !== undefined && typeof value !== 'string')
      throw new DataError('must be the text of a program.', at, field)
  const solution = source === undefined ? undefined : { answer: source, wrong }
  const program = programOf(question)
  if (test !== undefined) {
    if (program?.mode !== 'function')
      throw new DataError(
        'is missing. Name the function that check(candidate) is given: "program": {"mode": "function", "entryPoint": "…"}.',
        at,
        'program',
      )
    const { starterCode: prompt, entryPoint } = program
    return { reference: { kind: 'humaneval', prompt, entryPoint, test }, solution }
  }
  if (tests === undefined || program === undefined)
    throw new DataError("are missing, and answers are of the kind 'code'. Give tests or test.", at, 'tests')
  const reference: OwnReference = {
    kind: 'livecodebench',
    program,
    publicTests: programTests(publicTests, program, at, 'publicTests'),
    privateTests: JSON.stringify(programTests(tests, program, at, 'tests')),
  }
  return { reference, solution }
}

/** By default, a program reads standard input. */
function programOf({ program, publicTests, tests }: Question): ProgramInterface | undefined {
  if (program !== undefined || (publicTests === undefined && tests === undefined)) return program
  return { mode: 'stdin', starterCode: '' }
}

function labelled(options: NonNullable<Question['options']>, at: RecordPlace): Option[] {
  const letters = 26
  if (options.length > letters)
    throw new DataError(`has ${options.length} options; letters label up to ${letters}.`, at, 'options')
  const list = options.map((option, index) =>
    typeof option === 'string' ? { label: optionLetter(index), text: option } : option,
  )
  const labels = list.map(({ label }) => label.toUpperCase())
  const twice = labels.findIndex((label, index) => labels.indexOf(label) !== index)
  if (twice !== -1)
    throw new DataError(`the label '${list[twice]!.label}' is used twice.`, at, `options[${twice}].label`)
  return list
}

/** Tests for the sandbox. Checked here, where file and row are known. */
function programTests(
  tests: NonNullable<Question['tests']>,
  { mode }: ProgramInterface,
  at: RecordPlace,
  name: 'tests' | 'publicTests',
): ProgramTest[] {
  const testtype = mode === 'function' ? 'functional' : 'stdin'
  return tests.map(({ input, output, testtype: given = testtype }, index) => {
    const refuse = (field: string, problem: string): never => {
      throw new DataError(problem, at, `${name}[${index}].${field}`)
    }
    if (given !== testtype) refuse('testtype', `is ${given}, but program.mode is ${mode}; leave it out.`)
    if (testtype === 'functional') {
      const lines = input.split('\n').filter((line) => pythonStrip(line) !== '')
      if (lines.some((line) => parsePythonJson(line) === undefined))
        refuse('input', 'must be one JSON value per line, a line for each argument of the function.')
      if (parsePythonJson(output) === undefined)
        refuse('output', 'must be one JSON value: what the function returns.')
    }
    return { testtype, input, output }
  })
}
