import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { executorFingerprint } from '../../execution/executor-fingerprint.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import { temperatureAt } from '../../learning/update.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import { executionSettings } from '../../settings/execution.ts'
import { readLines } from '../../store/durable-file.ts'
import { changedEvaluations, isSealed } from '../../store/evaluation-digests.ts'
import type { Evaluation } from '../../store/ledger/evaluation.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import { changedSince, surplusEvents } from '../../store/run-evidence.ts'
import type { RunFolder, RunRecord } from '../../store/run-folder.ts'
import { hasLedger, openRunLedger } from '../../store/run-ledger.ts'
import { splitOf, splitVersion, type TaskSet, taskVersion } from '../../tasks/task-set.ts'
import type { EngineOptions } from '../../training/train-options.ts'
import {
  learnedFrom,
  looksIn,
  type TrajectoryRecord,
  type UpdateRecord,
} from '../../training/update-record.ts'
import { type StoredEvaluation, storedEvaluations, tracesFile } from '../evaluate.ts'
import { organisationReport } from '../organisation-report.ts'
import { verifyCredit } from './verify-credit.ts'

/** One thing that a run's numbers rest on. */
export interface Verification {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** The task set is as it is now; its programs are run again to be scored. */
export interface VerifyOptions extends Pick<EngineOptions, 'set' | 'sandbox' | 'tools'> {
  readonly folder: RunFolder
  /** Called with the number of the ledger's answers that were scored again. */
  readonly onProgress?: (done: number) => void
}

/**
 * Looks, without a single model call, whether a run's numbers still follow from what it keeps: data, library, prompts and
 * settings have their digests, checkpoints are whole, every stored answer scores what it scored, and every trajectory's
 * scores give the same credit again.
 */
export async function* verify(options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  const record = folder.readRecord()
  const { library, encoder } = record
  for (const [split, { version, tasks }] of Object.entries(record.tasks.splits))
    yield await attempt(`data: ${split}`, () => {
      if (set.splits[split] === undefined || splitVersion(set, split) !== version)
        throw new Error('tasks or references have changed')
      return `${tasks} tasks with their references are as they were`
    })
  yield await attempt('library and prompts', () => {
    folder.readLibrary(record)
    if (set.library.fingerprint !== library) throw new Error('the task set has other roles or prompts now')
    return `fingerprint ${library.slice(0, 12)}`
  })
  yield await attempt('executor settings', () => verifyExecutors(record, options))
  for (const update of folder.checkpoints())
    yield await attempt(`checkpoint ${update}`, () => {
      const { gain } = record.training
      folder.readCheckpoint({ library, encoder: encoder.fingerprint, gain }, update)
      return 'whole, and of this run'
    })
  yield await attempt('settings and history', () => verifyHistory(folder, record))
  yield await attempt('curves', () => verifyCurves(folder, record))
  yield* verifyLedger(record, options)
  yield* verifyEvaluations(options)
}

function verifyExecutors({ model, execution, executors }: RunRecord, options: VerifyOptions): string {
  const { set } = options
  const { library, profile } = set
  const tools = openToolbox(options.sandbox, options.tools)
  const settings = executionSettings.parse(execution)
  const identity = model as Parameters<typeof executorFingerprint>[0]['model']['identity']
  const tasks = Object.values(set.splits).flatMap((split) => split.tasks)
  for (const contract of new Set(tasks.map((task) => set.contractOf(task)))) {
    const now = executorFingerprint({ model: { identity }, settings, library, profile, contract, tools })
    if (executors[contract.name] !== now)
      throw new Error(`with the contract ${contract.name} an execution would now be another one`)
  }
  return `${Object.keys(executors).length} fingerprints of model, decoding, prompts, tools and contract`
}

function verifyHistory(folder: RunFolder, { updates }: RunRecord): string {
  const newest = folder.checkpoints().at(-1)
  if (newest === undefined) throw new Error('there is no checkpoint that vouches for them')
  const changes = changedSince(folder, newest)
  if (changes === undefined)
    return 'not covered: the run was made by an earlier version, whose checkpoints carry no digests of them'
  const surplus = surplusEvents(folder, updates)
  if (surplus > 0) changes.push(`events.jsonl tells of ${surplus} updates more than were made`)
  if (changes.length > 0) throw new Error(changes.join('; '))
  return `as they were when the checkpoint of update ${newest} was written`
}

/** Makes the curves again from the trajectories, whose scores `verifyCredit` looks up in the ledger. */
function verifyCurves(folder: RunFolder, { training, organisation, updates }: RunRecord): string {
  const events = readLines(folder.eventsFile) as UpdateRecord[]
  const trajectories = readLines(folder.trajectoriesFile) as TrajectoryRecord[]
  for (const [position, line] of events.entries()) {
    const learned = trajectories[position]
    if (line.update !== position || learned?.update !== position)
      throw new Error(
        `events.jsonl has update ${line.update} where ${position} belongs, or no trajectories of it`,
      )
    const again = JSON.parse(
      JSON.stringify({
        // By values, and where an organisation learns, an update is about many questions.
        ...(training.method === 'paper' &&
          organisation === undefined && {
            query: learned.trajectories[0]!.query,
            temperature: temperatureAt(position, updates, training),
          }),
        ...learnedFrom(learned.trajectories, looksIn(learned)),
      }),
    ) as Record<string, unknown>
    for (const [field, value] of Object.entries(again))
      if (!isDeepStrictEqual((line as Record<string, unknown>)[field], value))
        throw new Error(
          `events.jsonl says '${field}' of update ${position} otherwise than its trajectories do`,
        )
    const spent = line.spent.calls - (events[position - 1]?.spent.calls ?? 0)
    if (spent < 0) throw new Error(`events.jsonl counts fewer calls after update ${position} than before it`)
  }
  const newest = folder.checkpoints().at(-1) ?? 0
  if (events.length < newest) throw new Error(`events.jsonl tells of ${events.length} of ${newest} updates`)
  return `scores, returns and actions of ${events.length} updates come out again from their trajectories; losses, tokens and times rest on the digest of events.jsonl`
}

async function* verifyLedger(record: RunRecord, options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  let ledger: Ledger | undefined
  try {
    if (hasLedger(folder)) ledger = await openRunLedger(folder, { readOnly: true })
  } catch (error) {
    return yield failed('ledger', error)
  }
  try {
    yield await attempt('trajectories', async () => {
      const count = await verifyCredit(folder, record, set, ledger)
      return `the credit of ${count} comes out again from the scores in the ledger`
    })
    yield await attempt('scores in the ledger', async () =>
      ledger === undefined ? 'there are none' : await rescoreLedger(ledger, options),
    )
  } finally {
    await ledger?.close()
  }
}

async function rescoreLedger(ledger: Ledger, options: VerifyOptions): Promise<string> {
  const { set, onProgress } = options
  const { tasks, references } = splitOf(set, 'train')
  const versions = new Map(tasks.map((task) => [task.id, taskVersion(set, task, references.get(task.id))]))
  let count = 0
  for await (const { key, evaluation } of ledger.entries()) {
    if (versions.get(key.task) !== key.dataVersion)
      throw new Error(`task '${key.task}' is not what was evaluated`)
    const now = await scoreAgain(evaluation, references.get(key.task), options)
    if (now !== evaluation.score)
      throw new Error(`an answer to '${key.task}' scored ${evaluation.score} and now scores ${now}`)
    count += 1
    onProgress?.(count)
  }
  return `${count} stored answers score what they scored`
}

async function* verifyEvaluations(options: VerifyOptions): AsyncGenerator<Verification> {
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
      return `${scored}; it is not ended, or of an earlier version: no digests`
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
  // A question may have changed even if its score has not.
  if (splitVersion(options.set, split) !== data)
    throw new Error(`the ${split} questions or their references have changed since`)
  const twice = records.length - new Set(records.map(({ task }) => task)).size
  if (twice > 0) throw new Error(`${twice} of its records are of questions that it has already`)
  return `${records.length} answers score what they scored`
}

/** Makes the report of a stored evaluation again from its records, and throws if the stored one differs. */
function verifyReport({ folder, header, records }: StoredEvaluation, set: TaskSet): void {
  const path = join(folder, 'report.json')
  if (!existsSync(path) || records.length === 0) return
  // What a search took does not follow from the records; the digest of report.json covers it.
  const { search: _, ...stored } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const byTask = new Map(records.map((record) => [record.task, record]))
  // In the order of the tasks, because sums of decimal fractions depend on it.
  const ordered = splitOf(set, header.split).tasks.flatMap(({ id }) => byTask.get(id) ?? [])
  const report = organisationReport(header, ordered)
  const whole = { ...report, metric: set.metric, model: header.model }
  const again = JSON.parse(JSON.stringify(whole)) as Record<string, unknown>
  // An earlier version's report may lack a field.
  for (const [field, value] of Object.entries(stored))
    if (!isDeepStrictEqual(again[field], value))
      throw new Error(`report.json says '${field}' otherwise than its records do`)
}

/** A record's answer and graph are those of its transcript. Evaluations of earlier versions have none. */
async function verifyTraces({ folder, records }: StoredEvaluation): Promise<void> {
  if (!existsSync(tracesFile(folder))) return
  const ledger = await SqliteLedger.open(tracesFile(folder), { readOnly: true })
  try {
    for (const { task, execution, status, answer, graph, question } of records) {
      const trace = await ledger.findTrace(execution)
      // A record of an earlier version, in an evaluation that this one continued.
      if (trace === undefined && question === undefined) continue
      if (trace === undefined) throw new Error(`the transcript of '${task}' is gone`)
      const isSame = trace.status === status && isDeepStrictEqual(trace.graph, graph)
      // A trace without content has no answer, and one that was too long has another.
      const said =
        trace.answer === undefined || JSON.stringify(answer).length > 60_000 ? answer : trace.answer
      if (!isSame || !isDeepStrictEqual(said, answer))
        throw new Error(`the transcript of '${task}' ends with another answer than its record`)
    }
  } finally {
    await ledger.close()
  }
}

async function scoreAgain(
  { answer, judge, parse, failures }: Pick<Evaluation, 'answer' | 'judge' | 'parse' | 'failures'>,
  reference: unknown,
  { set, sandbox }: VerifyOptions,
): Promise<number> {
  if (answer === undefined) return 0
  // No model is asked here: the verdict stands that was given then.
  if (set.scorer.judge !== undefined) return parse === 'invalid' ? 0 : (judge?.score ?? Number.NaN)
  const pool = sandbox instanceof SandboxUnavailable ? undefined : sandbox?.pool
  return (await set.scorer.score(answer, reference, { pool, failures: failures.length })).score
}

async function attempt(name: string, look: () => string | Promise<string>): Promise<Verification> {
  try {
    return { name, ok: true, detail: await look() }
  } catch (error) {
    return failed(name, error)
  }
}

function failed(name: string, error: unknown): Verification {
  return { name, ok: false, detail: (error as Error).message }
}
