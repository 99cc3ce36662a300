import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { changedEvaluations, isSealed } from '../../store/evaluation-digests.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import { splitOf, splitVersion, type TaskSet } from '../../tasks/task-set.ts'
import { type StoredEvaluation, storedEvaluations, tracesFile } from '../evaluate.ts'
import { organisationReport } from '../organisation-report.ts'
import { attempt, failed, scoreAgain, type Verification, type VerifyOptions } from './verification.ts'

/** Checks every stored evaluation of a run: scores, report and transcripts. */
export async function* verifyEvaluations(options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  let stored: StoredEvaluation[]
  try {
    stored = storedEvaluations(folder)
  } catch (error) {
    return yield failed('evaluations', error)
  }
  for (const evaluation of stored)
    yield await attempt(`evaluation ${evaluation.folder}`, async () => {
      const scored = await rescoreRecords(evaluation, options)
      verifyReport(evaluation, set)
      await verifyTraces(evaluation)
      if (isSealed(evaluation.folder)) return scored
      return `${scored}; unfinished or of an earlier version: no digests`
    })
  const changes = changedEvaluations(folder)
  if (changes.length > 0) yield failed('evaluations', new Error(changes.join('; ')))
}

async function rescoreRecords(
  { header: { split, data }, records }: StoredEvaluation,
  options: VerifyOptions,
): Promise<string> {
  const { references } = splitOf(options.set, split)
  for (const record of records) {
    const { task, score } = record
    if (!references.has(task)) throw new Error(`there is no task '${task}' any more`)
    const now = await scoreAgain(record, references.get(task), options)
    if (now !== score) throw new Error(`the answer to '${task}' scored ${score} and now scores ${now}`)
  }
  // A question may have changed without changing its score.
  if (splitVersion(options.set, split) !== data)
    throw new Error(`the ${split} questions or their references have changed since`)
  const twice = records.length - new Set(records.map(({ task }) => task)).size
  if (twice > 0) throw new Error(`${twice} of its records repeat a question`)
  return `${records.length} answers have the same scores again`
}

/** Recomputes the report of a stored evaluation from its records. Throws if the stored one differs. */
function verifyReport({ folder, header, records }: StoredEvaluation, set: TaskSet): void {
  const path = join(folder, 'report.json')
  if (!existsSync(path) || records.length === 0) return
  // `search` does not follow from the records; the digest of report.json covers it.
  const { search: _, ...stored } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const byTask = new Map(records.map((record) => [record.task, record]))
  // In task order, because floating-point sums depend on it.
  const ordered = splitOf(set, header.split).tasks.flatMap(({ id }) => byTask.get(id) ?? [])
  const report = organisationReport(header, ordered)
  const whole = { ...report, metric: set.metric, model: header.model }
  const again = JSON.parse(JSON.stringify(whole)) as Record<string, unknown>
  // Reports of earlier versions may lack fields.
  for (const [field, value] of Object.entries(stored))
    if (!isDeepStrictEqual(again[field], value))
      throw new Error(`report.json says '${field}' differently from its records`)
}

/** Checks that records match their transcripts. Evaluations of earlier versions have no transcripts. */
async function verifyTraces({ folder, records }: StoredEvaluation): Promise<void> {
  if (!existsSync(tracesFile(folder))) return
  await using ledger = await SqliteLedger.open(tracesFile(folder), { readOnly: true })
  for (const { task, execution, status, answer, graph, question } of records) {
    const trace = await ledger.findTrace(execution)
    // A record written by an earlier version, in an evaluation continued by this one.
    if (trace === undefined && question === undefined) continue
    if (trace === undefined) throw new Error(`the transcript of '${task}' is missing`)
    const isSame = trace.status === status && isDeepStrictEqual(trace.graph, graph)
    // A trace without content has no answer, and a very long answer was cut.
    const said = trace.answer === undefined || JSON.stringify(answer).length > 60_000 ? answer : trace.answer
    if (!isSame || !isDeepStrictEqual(said, answer))
      throw new Error(`the transcript of '${task}' does not end with the answer of its record`)
  }
}
