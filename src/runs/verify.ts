import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { executorFingerprint } from '../execution/executor-fingerprint.ts'
import type { ProgramSandbox } from '../execution/sandbox/program-sandbox.ts'
import { executionSettings } from '../execution/settings.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import { creditTrajectory } from '../learning/trajectory.ts'
import { SqliteLedger } from '../ledger/sqlite.ts'
import type { JsonValue } from '../library/json-value.ts'
import { splitVersion, type TaskSet, taskVersion } from '../tasks/task-set.ts'
import { readLines } from './durable-file.ts'
import { storedEvaluations } from './evaluate.ts'
import type { RunFolder, RunRecord } from './run-folder.ts'
import type { TrajectoryRecord } from './update-record.ts'

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
  readonly sandbox?: ProgramSandbox | null
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
  yield verifyCredit(folder)
  const scores = new Rescoring(set, options)
  yield await scores.ledger(folder)
  for (const { folder: path, header, records } of storedEvaluations(folder))
    yield await scores.records(`evaluation ${path}`, header.split, records)
}

function* verifyDigests(record: RunRecord, options: VerifyOptions): Generator<Verification> {
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
  yield attempt('library and prompts', () => {
    folder.readLibrary(record)
    if (set.library.fingerprint !== record.library)
      throw new Error('the task set has other roles or prompts now')
    return `fingerprint ${record.library.slice(0, 12)}`
  })
  yield attempt('executor settings', () => {
    const tools = openToolbox(options.sandbox ?? undefined, options.tools)
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

function* verifyCheckpoints(folder: RunFolder, record: RunRecord): Generator<Verification> {
  for (const update of folder.checkpoints()) {
    yield attempt(`checkpoint ${update}`, () => {
      folder.readCheckpoint({ library: record.library, encoder: record.encoder.fingerprint }, update)
      return 'whole, and of this run'
    })
  }
}

function verifyCredit(folder: RunFolder): Verification {
  return attempt('trajectories', () => {
    let count = 0
    const lines = existsSync(folder.trajectoriesFile) ? readLines(folder.trajectoriesFile) : []
    for (const { update, trajectories } of lines as TrajectoryRecord[]) {
      for (const [index, stored] of trajectories.entries()) {
        const again = JSON.parse(JSON.stringify(creditTrajectory(stored, stored.settings))) as JsonValue
        if (!isDeepStrictEqual(again, stored))
          throw new Error(`the credit of trajectory ${index} of update ${update} comes out differently`)
        count += 1
      }
    }
    return `the credit of ${count} comes out again from their scores`
  })
}

/** Scores stored answers again. */
class Rescoring {
  readonly #set: TaskSet
  readonly #options: VerifyOptions

  constructor(set: TaskSet, options: VerifyOptions) {
    this.#set = set
    this.#options = options
  }

  async ledger({ ledgerFile }: RunFolder): Promise<Verification> {
    const name = 'scores in the ledger'
    if (!existsSync(ledgerFile)) return verdict(name, true, 'there are none')
    const ledger = await SqliteLedger.open(ledgerFile, { readOnly: true })
    try {
      const train = this.#set.splits['train']!
      const tasks = new Map(train.tasks.map((task) => [task.id, task]))
      let count = 0
      for await (const { key, evaluation } of ledger.entries()) {
        const task = tasks.get(key.task)
        const reference = train.references.get(key.task)
        if (task === undefined || taskVersion(this.#set, task, reference) !== key.dataVersion)
          return verdict(name, false, `task '${key.task}' is not what was evaluated`)
        const now = await this.#score(evaluation.answer, reference)
        if (now !== evaluation.score)
          return verdict(
            name,
            false,
            `an answer to '${key.task}' scored ${evaluation.score} and now scores ${now}`,
          )
        count += 1
        this.#options.onProgress?.(count, name)
      }
      return verdict(name, true, `${count} stored answers score what they scored`)
    } catch (error) {
      return verdict(name, false, (error as Error).message)
    } finally {
      await ledger.close()
    }
  }

  async records(
    name: string,
    split: string,
    records: readonly { task: string; answer?: JsonValue; score: number }[],
  ): Promise<Verification> {
    const references = this.#set.splits[split]?.references
    if (references === undefined) return verdict(name, false, `there is no split '${split}' any more`)
    for (const { task, answer, score } of records) {
      const now = await this.#score(answer, references.get(task))
      if (now !== score)
        return verdict(name, false, `the answer to '${task}' scored ${score} and now scores ${now}`)
    }
    return verdict(name, true, `${records.length} answers score what they scored`)
  }

  async #score(answer: JsonValue | undefined, reference: unknown): Promise<number> {
    if (answer === undefined) return 0
    const pool = this.#options.sandbox?.pool
    return (await this.#set.scorer.score(answer, reference, pool === undefined ? {} : { pool })).score
  }
}

function attempt(name: string, look: () => string): Verification {
  try {
    return verdict(name, true, look())
  } catch (error) {
    return verdict(name, false, (error as Error).message)
  }
}

function verdict(name: string, ok: boolean, detail: string): Verification {
  return { name, ok, detail }
}
