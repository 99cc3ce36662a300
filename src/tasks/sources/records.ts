// Rows of an official file, checked against the schema that the data set states.
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

/** A JSON number with its text: Python keeps 2 and 2.0 apart, a double does not. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

export interface RecordOptions {
  readonly limits?: FileLimits
  /** Numbers under this key come as `JsonNumber`. */
  readonly exactNumbers?: string
}

/** A record's `row` in messages (from one; the line in JSON Lines) and `index` among the records (from zero). */
export interface RecordPlace {
  readonly file: string
  readonly row: number
  readonly index: number
}

export type RecordConsumer<S extends z.ZodType> = (record: z.output<S>, at: RecordPlace) => void

/** JSON Lines: an object per line. Lines are not kept, so a file may be larger than the memory. */
export async function readJsonLines<S extends z.ZodType>(
  path: string,
  schema: S,
  consume: RecordConsumer<S>,
  { limits = defaultLimits, exactNumbers }: RecordOptions = {},
): Promise<DataFile> {
  let index = 0
  return readFileLines(path, limits, (line, row) => {
    const at = { file: path, row, index }
    consume(checkRecord(schema, parseJson(line, at, exactNumbers), at), at)
    index += 1
  })
}

/** Rows in JSON Lines or Parquet; the file's first bytes tell which. */
export async function readRows<S extends z.ZodType>(
  path: string,
  schema: S,
  consume: RecordConsumer<S>,
  options: RecordOptions = {},
): Promise<DataFile> {
  const { limits = defaultLimits } = options
  if (!(await isParquet(path, limits))) return readJsonLines(path, schema, consume, options)
  const file = await digestFile(path, limits)
  await readParquet(path, limits, (value, index) => {
    const at = { file: path, row: index + 1, index }
    consume(checkRecord(schema, value, at), at)
  })
  return file
}

/** One JSON array of objects. */
export async function readJsonArray<S extends z.ZodType>(
  path: string,
  schema: S,
  consume: RecordConsumer<S>,
  { exactNumbers }: RecordOptions = {},
): Promise<DataFile> {
  const { value, file } = await readJsonFile(path, exactNumbers)
  if (!Array.isArray(value)) throw new DataError('is not one JSON array.', { file: path })
  const { rows } = defaultLimits
  if (value.length > rows) throw new DataError(`has more than ${rows} rows.`, { file: path })
  for (const [index, row] of value.entries()) {
    const at = { file: path, row: index + 1, index }
    consume(checkRecord(schema, row, at), at)
  }
  return file
}

/** A file that is one JSON value. */
export async function readJsonFile(
  path: string,
  exactNumbers?: string,
): Promise<{ value: unknown; file: DataFile }> {
  const { text, file } = await readText(path, defaultLimits)
  return { value: parseJson(text, { file: path }, exactNumbers), file }
}

/** Checks a value against a schema; a mismatch names the first field that does not fit. */
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
    throw new DataError(`is not valid JSON (${(error as Error).message}); the file may be truncated.`, at)
  }
  const fault = findJsonFault(text)
  if (fault === undefined) return value
  throw new DataError(fault.problem, { row: fault.line, ...at }, fieldName(fault.path))
}
