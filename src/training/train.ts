import { existsSync } from 'node:fs'
import { NonFiniteError } from '../learning/finite.ts'
import type { GraphLearner, GraphLook } from '../learning/graph-learner.ts'
import { PolicyLearner } from '../learning/policy-learner.ts'
import { embedQuestions } from '../learning/training-questions.ts'
import { type ScoreGraph, type TrainedUpdate, updatePolicy } from '../learning/update.ts'
import { roundsIn, withTraits } from '../learning/values/value-questions.ts'
import { updateByValues } from '../learning/values/value-update.ts'
import { exitCode, Problem } from '../problem.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { SharedCaps } from '../store/allowance/allowance-store.ts'
import { Budget, type Spent } from '../store/budget.ts'
import { readLines } from '../store/durable-file.ts'
import { PostgresAddress } from '../store/postgres/address.ts'
import { RunError, RunFolder } from '../store/run-folder.ts'
import { ledgerPlace } from '../store/run-ledger.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { findEarlierLooks, readEarlierLooks } from './earlier-looks.ts'
import { beginRun, claimFolder, type OpenedRun, type RunLearner, reopenRun, stateOf } from './open-run.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { openRunFiles } from './run-files.ts'
import { selfCheck } from './self-check.ts'
import type { TrainingResult, TrainOptions } from './train-options.ts'
import { openEvaluator } from './training-evaluator.ts'
import { looksIn, type TrajectoryRecord, trajectoryRecord, updateRecord } from './update-record.ts'

/** An update that does not end within this time after the caller's signal is given up; what was answered is kept. */
const graceMs = 4000

/**
 * Trains a construction policy, by Procedure A1 or by values, or another organisation that learns, and keeps everything in the run's folder: after every update the state is
 * written, so that a run that is killed at any moment can be resumed to the same weights, bit for bit.
 */
export async function train(options: TrainOptions): Promise<TrainingResult> {
  const folder = new RunFolder(options.folder)
  const { resume: isResumed = false } = options
  // A new run's folder is made only once the checks have passed.
  let lock = isResumed || existsSync(folder.path) ? await claimFolder(folder, isResumed) : undefined
  try {
    const prepared = await prepareRun(folder, options)
    if (isResumed) return await trainRun(prepared, await reopenRun(prepared, options.fromUpdate), options)
    const earlier = await findEarlierLooks(prepared, options)
    const checked = await checkRun(prepared, options)
    lock ??= await claimFolder(folder, false)
    const begun = await beginRun(
      prepared,
      checked,
      { ledger: options.ledger, address: addressOf(options) },
      earlier,
    )
    return await trainRun(prepared, begun, options)
  } finally {
    lock?.release()
  }
}

/** Of the PostgreSQL that holds the run's ledger, where it is not what the environment says. */
function addressOf({ database }: TrainOptions): PostgresAddress | undefined {
  return database === undefined ? undefined : new PostgresAddress(database)
}

/** Checks a new run before anything is spent on it; gives what the checks themselves have spent. */
async function checkRun(
  { parts, record: { budget }, price }: PreparedRun,
  { signal, onEvent, elsewhere }: TrainOptions,
): Promise<Spent> {
  const meter = new Budget({}, price)
  for await (const check of selfCheck({
    parts: { ...parts, meter },
    budget,
    signal,
    isElsewhere: elsewhere !== undefined,
  }))
    onEvent?.({ type: 'check', ...check })
  return meter.spent
}

/** Sample, evaluate, learn, write down; until all updates are done, the signal comes or a cap is reached. */
async function trainRun(
  prepared: PreparedRun,
  { learner, done: earlier }: OpenedRun,
  options: TrainOptions,
): Promise<TrainingResult> {
  const { onEvent, signal, keptUpdates } = options
  const { folder, parts, price, record } = prepared
  const { training: settings, updates } = record
  let done = earlier ?? 0
  await using files = await openRunFiles(folder, done, price, {
    kept: keptUpdates,
    address: addressOf(options),
  })
  if (earlier === undefined) await files.writeCheckpoint(stateOf(prepared, learner, 0))
  using grace = giveUpAfter(graceMs, signal)
  const { ledger, journal } = files
  const elsewhere = await options.elsewhere?.({
    ...{ parts, ledger, source: record.source },
    place: ledgerPlace(folder, addressOf(options)),
    caps: capsLeft(record.budget, new Budget(record.budget, price, journal).spent),
  })
  const budget = new Budget(record.budget, price, journal, elsewhere?.spent)
  await using _closing = { [Symbol.asyncDispose]: async () => elsewhere?.close() }
  const evaluator = openEvaluator({
    parts: { ...parts, meter: budget },
    make: elsewhere?.make,
    ledger,
    requestReuse: settings.requestReuse,
    signal: grace.signal,
  })
  const mayGoOn = () => budget.reached() === undefined && signal?.aborted !== true
  const nextUpdate = await updatesBy(prepared, learner, evaluator.evaluate, mayGoOn)
  using _ = pulse(() => onEvent?.({ type: 'working', spent: budget.spent }))
  onEvent?.({ type: 'start', record, done, inFlight: files.lostCalls })

  let start = performance.now()
  try {
    while (done < updates && mayGoOn()) {
      const trained = await nextUpdate(done)
      if (trained === undefined) break
      await elsewhere?.refresh()
      const now = performance.now()
      const around = { wallMs: now - start, spent: budget.spent }
      const line = updateRecord(trained, evaluator.take(), around)
      start = now
      await files.writeUpdate(line, trajectoryRecord(trained), () => stateOf(prepared, learner, done + 1))
      done += 1
      onEvent?.(line)
    }
  } catch (error) {
    await elsewhere?.refresh()
    // Others are stopped at a cap in the middle of an update; what they did of it is kept.
    if (!isCap(error) || budget.reached() === undefined) explain(error, grace.signal, done)
  } finally {
    await evaluator.ended()
    await elsewhere?.refresh()
  }
  await files.written()
  const cap = done < updates ? budget.reached() : undefined
  return {
    status: done >= updates ? 'finished' : cap === undefined ? 'interrupted' : 'budget-reached',
    folder: folder.path,
    done,
    updates,
    spent: budget.spent,
    cap: cap && { name: cap, overshoot: budget.overshoot(cap) },
  }
}

/** The updates of the run's method, one after the other. One that is given up midway is undefined. */
async function updatesBy(
  { folder, parts, encoder, record }: PreparedRun,
  learner: RunLearner,
  evaluate: ScoreGraph,
  mayGoOn: () => boolean,
): Promise<(update: number) => Promise<TrainedUpdate | undefined>> {
  const { training: settings, updates } = record
  if (!(learner instanceof PolicyLearner)) return updatesOfLearner(learner, folder, parts.set, evaluate)
  const questions = await embedQuestions(parts.set, encoder)
  if (settings.method === 'paper')
    return (update) => updatePolicy(learner, { settings, questions, update, updates, evaluate })
  const width = parts.limit.limit
  const known = readEarlierLooks(folder, questions)
  const shared = { settings, questions: withTraits(questions, parts.set), known, evaluate, width, mayGoOn }
  const rounds = roundsIn(readLines(folder.trajectoriesFile) as TrajectoryRecord[], questions)
  return async () => {
    const made = await updateByValues(learner, { ...shared, rounds })
    if (made !== undefined) rounds.push(made.looks)
    return made?.trained
  }
}

/** What a run's own process leaves to others of its caps. */
function capsLeft(caps: BudgetSettings, own: Spent): SharedCaps {
  const used = {
    cost: own.cost === 'unpriced' ? 0 : own.cost.amount,
    tokens: own.input + own.output,
    calls: own.calls,
  }
  const shared = (['cost', 'tokens', 'calls'] as const).filter((cap) => caps[cap] !== undefined)
  return Object.fromEntries(shared.map((cap) => [cap, Math.max(0, caps[cap]! - used[cap])]))
}

function isCap(error: unknown): boolean {
  return error instanceof Problem && error.exitCode === exitCode.capReached
}

/** The updates of an organisation that learns. What it has seen so far is in the run's files. */
function updatesOfLearner(learner: GraphLearner, folder: RunFolder, set: TaskSet, evaluate: ScoreGraph) {
  const { tasks } = splitOf(set, 'train')
  const lines = readLines(folder.trajectoriesFile) as TrajectoryRecord[]
  const rounds: (readonly GraphLook[])[] = lines.map(looksIn)
  return async (update: number): Promise<TrainedUpdate> => {
    const { looks, loss } = await learner.update({ update, tasks, rounds, evaluate })
    rounds.push(looks)
    const report = { loss, policyLoss: loss, meanDivergence: 0, meanEntropy: 0 }
    const none = { temperature: 1, trajectories: [], advantages: [] }
    return { ...none, update, report, looks, evaluations: looks.length }
  }
}

/** Nothing where the signal gave the update under way up; else the error, in the run's words. */
function explain(error: unknown, atOnce: AbortSignal, done: number): void {
  if (atOnce.aborted && error === atOnce.reason) return
  if (error instanceof NonFiniteError)
    throw new RunError(
      `Update ${done}, counted from 0, was not applied. ${error.message} The run is kept as it was after ${done} updates.`,
      { cause: error },
    )
  throw error
}

/** A signal that follows another one a while later. */
function giveUpAfter(ms: number, given: AbortSignal | undefined) {
  const late = new AbortController()
  const start = () => void setTimeout(() => late.abort(given!.reason), ms).unref()
  given?.addEventListener('abort', start, { once: true })
  return { signal: late.signal, [Symbol.dispose]: () => given?.removeEventListener('abort', start) }
}

/** Does something about once a second, until it is disposed of. */
function pulse(tell: () => void): Disposable {
  const timer = setInterval(tell, 1000).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
