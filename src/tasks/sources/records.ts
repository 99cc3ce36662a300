// Rows of an official file, checked against the data set's schema.
import { z } from 'zod'
import { fieldName, findJsonFault } from '../../library/json-fault.ts'
import { DataError } from './data-error.ts'
import {
  type DataFile,
  defaultLimits,
  digestFile,
  type FileLimits,
  isParquet,
  readFileLines,
  readText,
} from './data-file.ts'
import { readParquet } from './parquet/read-parquet.ts'

/** A JSON number with its text: Python distinguishes 2 and 2.0, a double does not. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** A record's `row` for messages (from one; the line in JSON Lines) and its `index` (from zero). */
export interface RecordPlace {
  readonly file: string
  readonly row: number
  readonly index: number
}

interface RecordOptions {
  readonly limits?: FileLimits
  /** Numbers under this key are read as `JsonNumber`. */
  readonly exactNumbers?: string
  /** Whether the file is one JSON array. */
  readonly isArray?: boolean
}

/**
 * Passes every record to `consume`, checked against the schema: of JSON Lines or Parquet (detected by the first
 * bytes), or of one JSON array. Lines are not kept, so a file of them may be larger than memory.
 */
export async function readRecords<S extends z.ZodType>(
  path: string,
  schema: S,
  consume: (record: z.output<S>, at: RecordPlace) => void,
  { limits = defaultLimits, exactNumbers, isArray = false }: RecordOptions = {},
): Promise<DataFile> {
  let index = 0
  const take = (value: unknown, row: number) => {
    const at = { file: path, row, index }
    consume(checkRecord(schema, value, at), at)
    index += 1
  }
  if (isArray) {
    const { value, file } = await readJsonFile(path, exactNumbers, limits)
    if (!Array.isArray(value)) throw new DataError('is not one JSON array.', { file: path })
    if (value.length > limits.rows) throw new DataError(`has more than ${limits.rows} rows.`, { file: path })
    for (const record of value) take(record, index + 1)
    return file
  }
  if (!(await isParquet(path, limits)))
    return readFileLines(path, limits, (line, row) =>
      take(parseJson(line, { file: path, row }, exactNumbers), row),
    )
  const file = await digestFile(path, limits)
  await readParquet(path, limits, (value) => take(value, index + 1))
  return file
}

/** Reads a file that is one JSON value. */
export async function readJsonFile(
  path: string,
  exactNumbers?: string,
  limits = defaultLimits,
): Promise<{ value: unknown; file: DataFile }> {
  const { text, file } = await readText(path, limits)
  return { value: parseJson(text, { file: path }, exactNumbers), file }
}

/** Checks a value against a schema; the error names the first field that does not fit. */
export function checkRecord<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: { file: string; row?: number },
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  throw new DataError(`${issue.message}.`, at, z.core.toDotPath(issue.path))
}

function parseJson(text: string, at: { file: string; row?: number }, exactNumbers?: string): unknown {
  // The third argument (the source text) is newer than TypeScript's library types.
  const exact = (key: string, value: unknown, context?: { source: string }) =>
    key === exactNumbers && typeof value === 'number' ? new JsonNumber(context!.source) : value
  let value: unknown
  try {
    value = JSON.parse(text, exactNumbers === undefined ? undefined : exact)
  } catch (error) {
    throw new DataError(`is not valid JSON ${syntaxProblem((error as Error).message, at.row)}`, at)
  }
  const fault = findJsonFault(text)
  if (fault === undefined) return value
  throw new DataError(fault.problem, { row: fault.line, ...at }, fieldName(fault.path))
}

/** Node counts lines from the start of the text it was given, which for a row is always line 1. */
function syntaxProblem(message: string, row: number | undefined): string {
  const place = row === undefined ? ', line $1, column $2' : ', column $2'
  const told = message.replace(/ in JSON at position \d+ \(line (\d+) column (\d+)\)/, place)
  return /\bend of JSON|^Unterminated|^Expected double-quoted/.test(message)
    ? `(${told}); the file may be truncated.`
    : `(${told}).`
}
