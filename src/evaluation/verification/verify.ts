import { isDeepStrictEqual } from 'node:util'
import { executorFingerprint } from '../../execution/executor-fingerprint.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import { temperatureAt } from '../../learning/update.ts'
import { executionSettings } from '../../settings/execution.ts'
import { readLines } from '../../store/durable-file.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { changedSince, surplusEvents } from '../../store/run-evidence.ts'
import type { RunFolder, RunRecord } from '../../store/run-folder.ts'
import { hasLedger, openRunLedger } from '../../store/run-ledger.ts'
import { splitOf, splitVersion, taskVersion } from '../../tasks/task-set.ts'
import {
  learnedFrom,
  looksIn,
  type TrajectoryRecord,
  type UpdateRecord,
} from '../../training/update-record.ts'
import { attempt, failed, scoreAgain, type Verification, type VerifyOptions } from './verification.ts'
import { verifyCredit } from './verify-credit.ts'
import { verifyEvaluations } from './verify-evaluations.ts'

/**
 * Checks, without any model call, that a run's numbers follow from its files: data, library, prompts and settings
 * match their digests, checkpoints are intact, every stored answer gets its score again, and every trajectory's
 * scores give the same credit.
 */
export async function* verify(options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  const record = folder.readRecord()
  const { library, encoder } = record
  for (const [split, { version, tasks }] of Object.entries(record.tasks.splits))
    yield await attempt(`data: ${split}`, () => {
      if (set.splits[split] === undefined || splitVersion(set, split) !== version)
        throw new Error('tasks or references have changed')
      return `${tasks} tasks and references are unchanged`
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
      return 'intact, and of this run'
    })
  yield await attempt('settings and history', () => verifyHistory(folder, record))
  yield await attempt('curves', () => verifyCurves(folder, record))
  yield* verifyLedger(record, options)
  yield* verifyEvaluations(options)
}

function verifyExecutors({ model, models, execution, executors }: RunRecord, options: VerifyOptions): string {
  const { set } = options
  const { library, profile } = set
  const tools = openToolbox(options.sandbox, options.tools)
  const settings = executionSettings.parse(execution)
  type Model = Parameters<typeof executorFingerprint>[0]['model']
  const named = (identity: unknown) => ({ identity }) as Model
  const further =
    models && Object.fromEntries(Object.entries(models).map(([name, one]) => [name, named(one)]))
  const asked = { model: named(model), models: further }
  const tasks = Object.values(set.splits).flatMap((split) => split.tasks)
  for (const contract of new Set(tasks.map((task) => set.contractOf(task)))) {
    const now = executorFingerprint({ ...asked, settings, library, profile, contract, tools })
    if (executors[contract.name] !== now)
      throw new Error(`with the contract ${contract.name} executions would now differ`)
  }
  return `${Object.keys(executors).length} fingerprints of model, decoding, prompts, tools and contract`
}

function verifyHistory(folder: RunFolder, { updates }: RunRecord): string {
  const newest = folder.checkpoints().at(-1)
  if (newest === undefined) throw new Error('there is no checkpoint to check them against')
  const changes = changedSince(folder, newest)
  if (changes === undefined)
    return 'not covered: the run was made by an earlier version, whose checkpoints carry no digests of them'
  const surplus = surplusEvents(folder, updates)
  if (surplus > 0) changes.push(`events.jsonl has ${surplus} updates more than were made`)
  if (changes.length > 0) throw new Error(changes.join('; '))
  return `unchanged since the checkpoint of update ${newest} was written`
}

/** Recomputes the curves from the trajectories, whose scores `verifyCredit` checks against the ledger. */
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
        // With value learning or a learning organisation, an update covers many questions.
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
          `events.jsonl says '${field}' of update ${position} differently from its trajectories`,
        )
    const spent = line.spent.calls - (events[position - 1]?.spent.calls ?? 0)
    if (spent < 0) throw new Error(`events.jsonl counts fewer calls after update ${position} than before it`)
  }
  const newest = folder.checkpoints().at(-1) ?? 0
  if (events.length < newest) throw new Error(`events.jsonl has ${events.length} of ${newest} updates`)
  return `scores, returns and actions of ${events.length} updates follow from their trajectories; losses, tokens and times are covered by the digest of events.jsonl`
}

async function* verifyLedger(record: RunRecord, options: VerifyOptions): AsyncGenerator<Verification> {
  const { folder, set } = options
  await using closing = new AsyncDisposableStack()
  let ledger: Ledger | undefined
  try {
    if (hasLedger(folder)) ledger = closing.use(await openRunLedger(folder, { readOnly: true }))
  } catch (error) {
    return yield failed('ledger', error)
  }
  yield await attempt('trajectories', async () => {
    const count = await verifyCredit(folder, record, set, ledger)
    return `the credit of ${count} follows from the scores in the ledger`
  })
  yield await attempt('scores in the ledger', async () =>
    ledger === undefined ? 'there are none' : await rescoreLedger(ledger, options),
  )
}

async function rescoreLedger(ledger: Ledger, options: VerifyOptions): Promise<string> {
  const { set, onProgress } = options
  const { tasks, references } = splitOf(set, 'train')
  const versions = new Map(tasks.map((task) => [task.id, taskVersion(set, task, references.get(task.id))]))
  let count = 0
  for await (const { key, evaluation } of ledger.entries()) {
    if (versions.get(key.task) !== key.dataVersion)
      throw new Error(`task '${key.task}' has changed since it was evaluated`)
    const now = await scoreAgain(evaluation, references.get(key.task), options)
    if (now !== evaluation.score)
      throw new Error(`an answer to '${key.task}' scored ${evaluation.score} and now scores ${now}`)
    count += 1
    onProgress?.(count)
  }
  return `${count} stored answers have the same scores again`
}
