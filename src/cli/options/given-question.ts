import { text } from 'node:stream/consumers'
import type { Option } from '../../library/task.ts'
import { UsageError } from '../problem.ts'

/** The question from the command line; `-` reads standard input. */
export async function readQuestion(given: string): Promise<string> {
  const question = given === '-' ? await readStandardInput() : given
  if (question.trim() === '') throw new UsageError('The question is empty.')
  return question
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Type the question, then press Ctrl-D.\n')
  const read = await text(process.stdin).catch((error: Error) => {
    throw new UsageError(`Cannot read the question from standard input: ${error.message}.`)
  })
  // A final line break is the shell's, not the question's.
  return read.replace(/\r?\n$/, '')
}

/** Options as people type them: `A) Paris`, or just `Paris`, which gets the next letter. */
export function readOptions(texts: readonly string[]): Option[] {
  const options = texts.map((given, index) => {
    const label = String.fromCharCode(65 + index)
    const marked = given.trim().match(/^\(?([A-Z])[).:]\s*(.*)$/s)
    return { label, text: (marked?.[1] === label ? marked[2]! : given).trim() }
  })
  const empty = options.find(({ text }) => text === '')
  if (empty !== undefined) throw new UsageError(`Option ${empty.label} has no text.`)
  if (options.length < 2 || options.length > 26)
    throw new UsageError(
      `A question has 2 to 26 options, not ${options.length}. Write them as --options "A) Paris" "B) Rome".`,
    )
  return options
}
