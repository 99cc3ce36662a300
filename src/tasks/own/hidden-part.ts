import type { AnswerContract } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { scoreAnswer } from '../scoring/reference-scorer.ts'
import { DataError } from '../sources/data-error.ts'
import type { Solution } from '../task-set.ts'
import { type AnswerKind, comparedKinds } from './answer-kind.ts'
import { fitsContract, type OwnReference } from './own-scorer.ts'
import { programOf, programTests } from './public-task.ts'
import type { PlacedQuestion } from './question.ts'

/** The hidden half of an example. The solution lies apart from the reference, which says what scoring rests on. */
export interface HiddenPart {
  readonly reference: OwnReference
  readonly solution?: Solution
}

/** What a question's answers are scored against, or a `DataError` that says what is wrong with them. */
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

/** For a user's own scorer. Only it knows what is right, so the answer counts as a solution if it is of the right form. */
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
