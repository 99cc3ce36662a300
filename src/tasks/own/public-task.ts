import type { Option, ProgramInterface, ProgramTest, Task } from '../../library/task.ts'
import { parsePythonJson } from '../../python/json.ts'
import { pythonStrip } from '../../python/text.ts'
import { optionLetter } from '../scoring/exact-match.ts'
import { DataError } from '../sources/data-error.ts'
import type { RecordPlace } from '../sources/records.ts'
import type { PlacedQuestion, Question } from './question.ts'

/** The public part of a question. Field by field: what is not named here stays with the reference. */
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

/** Without a word about it, a program reads its standard input. */
export function programOf({ program, publicTests, tests }: Question): ProgramInterface | undefined {
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
    throw new DataError(
      `is a label for the second time: '${list[twice]!.label}'.`,
      at,
      `options[${twice}].label`,
    )
  return list
}

/** Tests in the form that runs, checked now, while file and row are known. */
export function programTests(
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
