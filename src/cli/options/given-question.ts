import { text } from 'node:stream/consumers'
import type { Option } from '../../library/task.ts'
import { UsageError } from '../problem.ts'

/** The question of a command line; `-` stands for standard input. */
export async function readQuestion(given: string): Promise<string> {
  const question = given === '-' ? await readStandardInput() : given
  if (question.trim() === '') throw new UsageError('The question is empty.')
  return question
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Type the question and end it with Ctrl-D.\n')
  const read = await text(process.stdin).catch((error: Error) => {
    throw new UsageError(`The question cannot be read from standard input: ${error.message}.`)
  })
  // A final line break is the shell's, not the question's.
  return read.replace(/\r?\n$/, '')
}

/** The options of a question as a person types them, one per text: `A) Paris`, or `Paris` to be labelled by its place. */
export function readOptions(texts: readonly string[]): Option[] {
  const options = texts.map((given, index) => {
    const label = String.fromCharCode(65 + index)
    const marked = given.trim().match(/^\(?([A-Z])[).:]\s*(.*)$/s)
    return { label, text: (marked?.[1] === label ? marked[2]! : given).trim() }
  })
  const empty = options.find(({ text }) => text === '')
  if (empty !== undefined) throw new UsageError(`The option ${empty.label} has no text.`)
  if (options.length < 2 || options.length > 26)
    throw new UsageError(
      `There ${options.length === 1 ? 'is 1 option' : `are ${options.length} options`}; a question has 2 to 26, such as --options "A) Paris" "B) Rome".`,
    )
  return options
}
