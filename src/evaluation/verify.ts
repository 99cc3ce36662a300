import { existsSync } from 'node:fs'
import { executorFingerprint } from '../execution/executor-fingerprint.ts'
import { type GivenSandbox, openToolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { JsonValue } from '../library/json-value.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import { executionSettings } from '../settings/execution.ts'
import { changedEvaluations, isSealed } from '../store/evaluation-digests.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { changedSince, surplusEvents } from '../store/run-evidence.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { splitOf, splitVersion, type TaskSet, taskVersion } from '../tasks/task-set.ts'
import { type EvaluationHeader, storedEvaluations } from './evaluate.ts'
import type { QuestionRecord } from './organisation-report.ts'
import { verifyCredit } from './verify-credit.ts'
import { verifyReport } from './verify-report.ts'

/** One thing that a run's numbers rest on. */
export interface Verification {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

export interface VerifyOptions {
  readonly folder: RunFolder
  /** The task set as it is now. */
  readonly set: TaskSet
  /** Programs are run again to be scored. */
  readonly sandbox?: GivenSandbox
  readonly tools?: Iterable<Tool>
  readonly onProgress?: (done: number, what: string) => void
}

/**
 * Looks, without a single model call, whether a run's numbers still follow from what it keeps: data, library, prompts and
 * settings have their digests, checkpoints are whole, every stored answer scores what it scored, and every trajectory's
 * credit comes out again from its scores.
 */
export async function* verify(options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  const record = folder.readRecord()
  yield* verifyDigests(record, options)
  yield* verifyCheckpoints(folder, record)
  const scores = new Rescoring(set, options)
  yield* verifyLedger(folder, record, set, scores)
  yield* verifyEvaluations(folder, scores)
}

async function* verifyDigests(record: RunRecord, options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  for (const [split, { version, tasks }] of Object.entries(record.tasks.splits)) {
    const now = set.splits[split] === undefined ? undefined : splitVersion(set, split)
    yield verdict(
      `data: ${split}`,
      now === version,
      now === version
        ? `${tasks} tasks with their references are as they were`
        : 'tasks or references have changed',
    )
  }
  yield await attempt('library and prompts', () => {
    folder.readLibrary(record)
    if (set.library.fingerprint !== record.library)
      throw new Error('the task set has other roles or prompts now')
    return `fingerprint ${record.library.slice(0, 12)}`
  })
  yield await attempt('executor settings', () => {
    const tools = openToolbox(options.sandbox, options.tools)
    const settings = executionSettings.parse(record.execution)
    const model = { identity: record.model as Parameters<typeof executorFingerprint>[0]['model']['identity'] }
    const tasks = Object.values(set.splits).flatMap((split) => split.tasks)
    for (const contract of new Set(tasks.map((task) => set.contractOf(task)))) {
      const { library, profile } = set
      const now = executorFingerprint({ model, settings, library, profile, contract, tools })
      if (record.executors[contract.name] !== now)
        throw new Error(`with the contract ${contract.name} an execution would now be another one`)
    }
    return `${Object.keys(record.executors).length} fingerprints of model, decoding, prompts, tools and contract`
  })
}

async function* verifyCheckpoints(folder: RunFolder, record: RunRecord): AsyncGenerator<Verification> {
  for (const update of folder.checkpoints()) {
    yield await attempt(`checkpoint ${update}`, () => {
      folder.readCheckpoint({ library: record.library, encoder: record.encoder.fingerprint }, update)
      return 'whole, and of this run'
    })
  }
  yield await attempt('settings and history', () => verifyHistory(folder, record))
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

async function* verifyLedger(
  folder: RunFolder,
  record: RunRecord,
  set: TaskSet,
  scores: Rescoring,
): AsyncGenerator<Verification> {
  let ledger: SqliteLedger | undefined
  try {
    if (existsSync(folder.ledgerFile)) ledger = await SqliteLedger.open(folder.ledgerFile, { readOnly: true })
  } catch (error) {
    return yield verdict('ledger', false, (error as Error).message)
  }
  try {
    yield await attempt('trajectories', async () => {
      const count = await verifyCredit(folder, record, set, ledger)
      return `the credit of ${count} comes out again from the scores in the ledger`
    })
    yield await attempt('scores in the ledger', async () =>
      ledger === undefined ? 'there are none' : await scores.ledger(ledger),
    )
  } finally {
    await ledger?.close()
  }
}

async function* verifyEvaluations(folder: RunFolder, scores: Rescoring): AsyncGenerator<Verification> {
  let stored: ReturnType<typeof storedEvaluations>
  try {
    stored = storedEvaluations(folder)
  } catch (error) {
    return yield verdict('evaluations', false, (error as Error).message)
  }
  for (const { folder: path, header, records } of stored)
    yield await attempt(`evaluation ${path}`, async () => {
      const scored = await scores.records(header, records)
      verifyReport(path, header, records, scores.set)
      return isSealed(path) ? scored : `${scored}; it is not ended, or of an earlier version: no digests`
    })
  const changes = changedEvaluations(folder)
  if (changes.length > 0) yield verdict('evaluations', false, changes.join('; '))
}

/** Scores stored answers again. */
class Rescoring {
  readonly set: TaskSet
  readonly #options: VerifyOptions

  constructor(set: TaskSet, options: VerifyOptions) {
    this.set = set
    this.#options = options
  }

  async ledger(ledger: SqliteLedger): Promise<string> {
    const train = splitOf(this.set, 'train')
    const tasks = new Map(train.tasks.map((task) => [task.id, task]))
    let count = 0
    for await (const { key, evaluation } of ledger.entries()) {
      const task = tasks.get(key.task)
      const reference = train.references.get(key.task)
      if (task === undefined || taskVersion(this.set, task, reference) !== key.dataVersion)
        throw new Error(`task '${key.task}' is not what was evaluated`)
      const now = await this.#score(evaluation.answer, reference)
      if (now !== evaluation.score)
        throw new Error(`an answer to '${key.task}' scored ${evaluation.score} and now scores ${now}`)
      count += 1
      this.#options.onProgress?.(count, 'scores in the ledger')
    }
    return `${count} stored answers score what they scored`
  }

  async records({ split, data }: EvaluationHeader, records: readonly QuestionRecord[]): Promise<string> {
    const { references } = splitOf(this.set, split)
    for (const { task, answer, score } of records) {
      if (!references.has(task)) throw new Error(`there is no task '${task}' any more`)
      const now = await this.#score(answer, references.get(task))
      if (now !== score) throw new Error(`the answer to '${task}' scored ${score} and now scores ${now}`)
    }
    // A question's own words may have changed where its score has not.
    if (splitVersion(this.set, split) !== data)
      throw new Error(`the ${split} questions or their references have changed since`)
    const twice = records.length - new Set(records.map(({ task }) => task)).size
    if (twice > 0) throw new Error(`${twice} of its records are of questions that it has already`)
    return `${records.length} answers score what they scored`
  }

  async #score(answer: JsonValue | undefined, reference: unknown): Promise<number> {
    if (answer === undefined) return 0
    const { sandbox } = this.#options
    const pool = sandbox instanceof SandboxUnavailable ? undefined : sandbox?.pool
    return (await this.set.scorer.score(answer, reference, { pool })).score
  }
}

async function attempt(name: string, look: () => string | Promise<string>): Promise<Verification> {
  try {
    return verdict(name, true, await look())
  } catch (error) {
    return verdict(name, false, (error as Error).message)
  }
}

function verdict(name: string, ok: boolean, detail: string): Verification {
  return { name, ok, detail }
}
