import { z } from 'zod'
import { DataError } from '../sources/data-error.ts'
import { type DataFile, defaultLimits, readText } from '../sources/data-file.ts'
import { readRecords } from '../sources/records.ts'
import { csvQuestions } from './csv-questions.ts'
import { checkQuestion, type PlacedQuestion } from './question.ts'

const endings = /\.(jsonl|ndjson|csv)(?:\.gz)?$/i

export function isQuestionFile(path: string): boolean {
  return endings.test(path)
}

/** Reads questions from JSON Lines or CSV, plain or gzipped. Errors name file, row and field. */
export async function readQuestionFile(
  path: string,
  { split, limits = defaultLimits }: { split?: string; limits?: typeof defaultLimits } = {},
): Promise<{ questions: readonly PlacedQuestion[]; file: DataFile }> {
  const format = endings.exec(path)?.[1]?.toLowerCase()
  if (format === undefined)
    throw new DataError(
      'is neither JSON Lines nor CSV by its name. Rename it to .jsonl, .jsonl.gz, .csv or .csv.gz.',
      { file: path },
    )
  const questions: PlacedQuestion[] = []
  let file: DataFile
  if (format === 'csv') {
    const read = await readText(path, limits)
    file = read.file
    const rows = csvQuestions(read.text, path, limits.lineBytes)
    if (rows.length > limits.rows) throw new DataError(`has more than ${limits.rows} rows.`, { file: path })
    for (const [index, { fields, line }] of rows.entries())
      questions.push(checkQuestion(fields, { file: path, row: line, index }, split))
  } else {
    const add = (value: unknown, at: PlacedQuestion['at']) => questions.push(checkQuestion(value, at, split))
    file = await readRecords(path, z.unknown(), add, { limits })
  }
  if (questions.length === 0) throw new DataError('has no questions.', { file: path })
  return { questions, file }
}
