import { z } from 'zod'
import { codeString } from '../../library/answer-contract.ts'
import type { ProgramInterface } from '../../library/task.ts'
import type { ProgramSolution } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import { defaultLimits } from '../sources/data-file.ts'
import { isFile } from '../sources/data-folder.ts'
import { decodeTests } from '../sources/program-tests.ts'
import { checkRecord, type RecordPlace, readJsonFile, readRecords } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'
import { codeProfile } from './roles.ts'

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

/** Rows contain their private tests, some tens of megabytes. */
const limits = { ...defaultLimits, lineBytes: 2 ** 28 }

const solutionsFile = 'livecodebench/solutions.json'

/** Contest problems, answered by programs that read standard input or define a function. */
export const livecodebench: Benchmark = {
  name: 'livecodebench',
  title: 'LiveCodeBench-v6',
  licence: 'CC',
  metric: 'pass@1',
  contract: codeString,
  ...codeProfile,
  ...published['livecodebench']!,
  // The official rows have no solutions.
  companion: { file: solutionsFile, holds: 'right programs for self-checks and the simulated model' },
  q1: {
    train: 'train',
    test: 'test',
    standIns: [
      { train: 'sample', test: 'test' },
      { train: 'test', test: 'test' },
      { train: 'sample', test: 'sample' },
    ],
  },
  async read({ paths, beside }, examples) {
    const solutions = await readSolutions(beside(solutionsFile))
    const take = (record: z.output<typeof row>, at: RecordPlace) => {
      const id = record.question_id
      if (!examples.claim(id, at, 'question_id')) return
      const starterCode = record.starter_code
      const named = decode(record, 'metadata', at, (text) => metadataField.parse(JSON.parse(text)))
      const program: ProgramInterface =
        named.func_name === undefined
          ? { mode: 'stdin', starterCode }
          : { mode: 'function', starterCode, entryPoint: named.func_name }
      const publicTests = decode(record, 'public_test_cases', at, decodeTests)
      // Decoded here only to detect damage while file and row are known.
      decode(record, 'private_test_cases', at, decodeTests)
      const metadata = {
        title: record.question_title,
        platform: record.platform,
        difficulty: record.difficulty,
        contest: record.contest_id,
        date: record.contest_date,
      }
      const { question_content: question, private_test_cases: privateTests } = record
      const solution = solutions?.byId.get(id)
      const reference = { kind: 'livecodebench', program, publicTests, privateTests, solution } as const
      examples.add(id, { question, program, publicTests, metadata }, reference)
    }
    for (const path of paths) examples.files.push(await readRecords(path, row, take, { limits }))
    if (solutions !== undefined) examples.files.push(solutions.file)
  },
}

const solutionRecords = z.record(
  z.string(),
  z.object({ correct: z.string().min(1), wrong: z.string().min(1).optional() }),
)

/** Solutions by `question_id`; the file is optional. */
async function readSolutions(path: string) {
  if (!isFile(path)) return undefined
  const { value, file } = await readJsonFile(path)
  const byId = new Map<string, ProgramSolution>()
  for (const [id, { correct, wrong }] of Object.entries(checkRecord(solutionRecords, value, { file: path })))
    byId.set(id, { program: correct, wrong: wrong === undefined ? undefined : [wrong] })
  return { byId, file }
}

function decode<T>(
  record: z.output<typeof row>,
  field: 'metadata' | 'public_test_cases' | 'private_test_cases',
  at: RecordPlace,
  read: (text: string) => T,
): T {
  try {
    return read(record[field])
  } catch (error) {
    throw new DataError(`cannot be decoded: ${(error as Error).message}.`, { ...at, cause: error }, field)
  }
}
