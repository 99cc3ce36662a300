import { z } from 'zod'
import { DataError } from '../sources/data-error.ts'
import { type DataFile, defaultLimits, type FileLimits as Limits, readText } from '../sources/data-file.ts'
import { readJsonLines } from '../sources/records.ts'
import { csvQuestions } from './csv-questions.ts'
import { checkQuestion, type Question, type QuestionPlace } from './question.ts'

export interface PlacedQuestion {
  readonly question: Question
  readonly at: QuestionPlace
}

export interface QuestionFile {
  readonly questions: readonly PlacedQuestion[]
  readonly file: DataFile
}

const endings = /\.(jsonl|ndjson|csv)(?:\.gz)?$/i

export function isQuestionFile(path: string): boolean {
  return endings.test(path)
}

/** Reads questions from JSON Lines or CSV, plain or in gzip. Errors name file, row and field. */
export async function readQuestionFile(path: string, limits: Limits = defaultLimits): Promise<QuestionFile> {
  const format = endings.exec(path)?.[1]?.toLowerCase()
  if (format === undefined)
    throw new DataError(
      'is neither JSON Lines nor CSV by its name. Rename it to .jsonl, .jsonl.gz, .csv or .csv.gz.',
      { file: path },
    )
  const read = format === 'csv' ? await readCsv(path, limits) : await readLines(path, limits)
  if (read.questions.length === 0) throw new DataError('has no questions.', { file: path })
  return read
}

async function readLines(path: string, limits: Limits): Promise<QuestionFile> {
  const questions: PlacedQuestion[] = []
  const file = await readJsonLines(
    path,
    z.unknown(),
    (value, at) => questions.push({ question: checkQuestion(value, at), at }),
    { limits },
  )
  return { questions, file }
}

async function readCsv(path: string, limits: Limits): Promise<QuestionFile> {
  const { text, file } = await readText(path, limits)
  const rows = csvQuestions(text, path, limits.lineBytes)
  if (rows.length > limits.rows) throw new DataError(`has more than ${limits.rows} rows.`, { file: path })
  const questions = rows.map(({ fields, line }, index) => {
    const at = { file: path, row: line, index }
    return { question: checkQuestion(fields, at), at }
  })
  return { questions, file }
}
