import { z } from 'zod'
import type { ProgramInterface, ProgramTest } from '../../library/task.ts'
import { isFile } from '../data/data-folder.ts'
import { DataError } from '../sources/data-error.ts'
import { type DataFile, defaultLimits } from '../sources/data-file.ts'
import { decodeTests } from '../sources/program-tests.ts'
import { checkRecord, type RecordPlace, readJson, readRows } from '../sources/records.ts'
import type { ProgramSolution } from './reference.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({
  question_title: z.string(),
  question_content: z.string().min(1),
  platform: z.string(),
  question_id: z.string().min(1),
  contest_id: z.string(),
  contest_date: z.string(),
  starter_code: z.string(),
  difficulty: z.string(),
  public_test_cases: z.string(),
  private_test_cases: z.string(),
  metadata: z.string(),
})

const metadataField = z.object({ func_name: z.string().min(1).optional() })

const solutionsFile = z.record(
  z.string(),
  z.object({ correct: z.string().min(1), wrong: z.string().min(1).optional() }),
)

/** A row carries its private tests, tens of megabytes in some. */
const limits = { ...defaultLimits, lineBytes: 2 ** 28 }

/**
 * The collection comes in several files, one per version; they are read as one pool in the order given. The rows have no
 * solutions; the file at `solutionsPath`, which need not be there, gives some by `question_id`.
 */
export async function readLivecodebench(
  paths: readonly string[],
  wanted: Wanted = everyExample,
  solutionsPath?: string,
): Promise<Split> {
  const examples = new SplitCollector()
  const files: DataFile[] = []
  const solutions = solutionsPath === undefined ? undefined : await readSolutions(solutionsPath)
  const take = (record: z.output<typeof row>, at: RecordPlace) => {
    const id = record.question_id
    examples.addId(id, at, 'question_id')
    if (!wanted(id)) return
    const program = interfaceOf(record, at)
    const publicTests = testsOf(record, 'public_test_cases', at)
    // Decoded here only to find damage while file and row are known.
    testsOf(record, 'private_test_cases', at)
    examples.addTask({
      id,
      question: record.question_content,
      program,
      publicTests,
      metadata: {
        title: record.question_title,
        platform: record.platform,
        difficulty: record.difficulty,
        contest: record.contest_id,
        date: record.contest_date,
      },
    })
    const privateTests = record.private_test_cases
    const solution = solutions?.byId.get(id)
    examples.addReference(id, {
      kind: 'livecodebench',
      program,
      publicTests,
      privateTests,
      ...(solution === undefined ? {} : { solution }),
    })
  }
  for (const path of paths) files.push(await readRows(path, row, take, { limits }))
  if (solutions !== undefined) files.push(solutions.file)
  return examples.split(files)
}

interface Solutions {
  readonly byId: ReadonlyMap<string, ProgramSolution>
  readonly file: DataFile
}

async function readSolutions(path: string): Promise<Solutions | undefined> {
  if (!isFile(path)) return undefined
  const { value, file } = await readJson(path)
  const entries = Object.entries(checkRecord(solutionsFile, value, { file: path }))
  const byId = new Map(
    entries.map(([id, { correct: program, wrong }]) => [
      id,
      wrong === undefined ? { program } : { program, wrong: [wrong] },
    ]),
  )
  return { byId, file }
}

function interfaceOf(record: z.output<typeof row>, at: RecordPlace): ProgramInterface {
  const metadata = decode(record.metadata, at, 'metadata', (text) => metadataField.parse(JSON.parse(text)))
  const starterCode = record.starter_code
  return metadata.func_name === undefined
    ? { mode: 'stdin', starterCode }
    : { mode: 'function', starterCode, entryPoint: metadata.func_name }
}

function testsOf(
  record: z.output<typeof row>,
  field: 'public_test_cases' | 'private_test_cases',
  at: RecordPlace,
): readonly ProgramTest[] {
  return decode(record[field], at, field, decodeTests)
}

function decode<T>(text: string, at: RecordPlace, field: string, read: (text: string) => T): T {
  try {
    return read(text)
  } catch (error) {
    throw new DataError(`cannot be decoded: ${(error as Error).message}.`, { ...at, field, cause: error })
  }
}
