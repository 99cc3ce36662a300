import { existsSync } from 'node:fs'
import { NonFiniteError } from '../learning/finite.ts'
import type { GraphLearner, GraphLook, LearningRound } from '../learning/graph-learner.ts'
import { PolicyLearner } from '../learning/policy-learner.ts'
import { embedQuestions } from '../learning/training-questions.ts'
import { type ScoreGraph, type TrainedUpdate, updatePolicy } from '../learning/update.ts'
import { roundsIn, withTraits } from '../learning/values/value-questions.ts'
import { updateByValues } from '../learning/values/value-update.ts'
import { isCapReached } from '../problem.ts'
import { Budget, type Spent } from '../store/budget.ts'
import { readLines } from '../store/durable-file.ts'
import { RunError, RunFolder } from '../store/run-folder.ts'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import { findEarlierLooks, readEarlierLooks } from './earlier-looks.ts'
import { beginRun, claimFolder, type OpenedRun, type RunLearner, reopenRun, stateOf } from './open-run.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { selfCheck } from './self-check.ts'
import type { TrainingResult, TrainOptions } from './train-options.ts'
import { addressOf, openSession } from './training-session.ts'
import { looksIn, type TrajectoryRecord, trajectoryRecord, updateRecord } from './update-record.ts'

/**
 * Trains a construction policy (by Procedure A1 or by values) or another learning organisation. The state is written
 * to the run's folder after every update, so that a run killed at any moment can be resumed to exactly the same
 * weights.
 */
export async function train(options: TrainOptions): Promise<TrainingResult> {
  const folder = new RunFolder(options.folder)
  const { resume: isResumed = false } = options
  // The folder of a new run is created only after the checks have passed.
  let lock = isResumed || existsSync(folder.path) ? await claimFolder(folder, isResumed) : undefined
  try {
    const prepared = await prepareRun(folder, options)
    if (isResumed) return await trainRun(prepared, await reopenRun(prepared, options.fromUpdate), options)
    const earlier = await findEarlierLooks(prepared, options)
    const checked = await checkRun(prepared, options)
    lock ??= await claimFolder(folder, false)
    const { ledger } = options
    const begun = await beginRun(prepared, { checked, ledger, address: addressOf(options), earlier })
    return await trainRun(prepared, begun, options)
  } finally {
    lock?.release()
  }
}

/** Checks a new run before anything is spent on it. Returns what the checks themselves spent. */
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

/** Sample, evaluate, learn, write; until all updates are done, the caller aborts or a cap is reached. */
async function trainRun(
  prepared: PreparedRun,
  opened: OpenedRun,
  options: TrainOptions,
): Promise<TrainingResult> {
  const { onEvent } = options
  const { folder, record } = prepared
  const { learner } = opened
  const { updates } = record
  let done = opened.done ?? 0
  await using session = await openSession(prepared, opened, options)
  const { files, budget, evaluator, elsewhere, mayContinue } = session
  const nextUpdate = await openUpdates(prepared, learner, evaluator.evaluate, mayContinue)
  using _ = pulse(() => onEvent?.({ type: 'working', spent: budget.spent }))
  onEvent?.({ type: 'start', record, done, inFlight: files.lostCalls })

  let start = performance.now()
  try {
    while (done < updates && mayContinue()) {
      const trained = await nextUpdate(done)
      if (trained === undefined) break
      await elsewhere?.refresh()
      const now = performance.now()
      const line = updateRecord(trained, evaluator.take(), { wallMs: now - start, spent: budget.spent })
      start = now
      await files.writeUpdate(line, trajectoryRecord(trained), () => stateOf(prepared, learner, done + 1))
      done += 1
      onEvent?.(line)
    }
  } catch (error) {
    await (isCapReached(error) ? elsewhere?.settled() : elsewhere?.refresh())
    // A cap stops workers in the middle of an update; their finished evaluations are kept.
    if (!isCapReached(error) || budget.reached() === undefined) explain(error, session.givenUp, done)
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

/** Returns the function that makes the next update by the run's method. It gives undefined for an abandoned update. */
async function openUpdates(
  { folder, parts, encoder, record }: PreparedRun,
  learner: RunLearner,
  evaluate: ScoreGraph,
  mayContinue: () => boolean,
): Promise<(update: number) => Promise<TrainedUpdate | undefined>> {
  const { training: settings, updates } = record
  if (!(learner instanceof PolicyLearner))
    return learnerUpdates(learner, folder, parts.set, { evaluate, mayContinue })
  const questions = await embedQuestions(parts.set, encoder)
  if (settings.method === 'paper')
    return (update) => updatePolicy(learner, { settings, questions, update, updates, evaluate })
  const width = parts.limit.limit
  const known = readEarlierLooks(folder, questions)
  const shared = {
    settings,
    questions: withTraits(questions, parts.set),
    known,
    evaluate,
    width,
    mayContinue,
  }
  const rounds = roundsIn(readLines(folder.trajectoriesFile) as TrajectoryRecord[], questions)
  return async () => {
    const made = await updateByValues(learner, { ...shared, rounds })
    if (made !== undefined) rounds.push(made.looks)
    return made?.trained
  }
}

/** Updates of a learning organisation. Its earlier looks come from the run's files. */
function learnerUpdates(
  learner: GraphLearner,
  folder: RunFolder,
  set: TaskSet,
  means: Pick<LearningRound, 'evaluate' | 'mayContinue'>,
) {
  const { tasks } = splitOf(set, 'train')
  const lines = readLines(folder.trajectoriesFile) as TrajectoryRecord[]
  const rounds: (readonly GraphLook[])[] = lines.map(looksIn)
  return async (update: number): Promise<TrainedUpdate | undefined> => {
    const learned = await learner.update({ update, tasks, rounds, ...means })
    if (learned === undefined) return undefined
    const { looks, loss } = learned
    rounds.push(looks)
    const report = { loss, policyLoss: loss, meanDivergence: 0, meanEntropy: 0 }
    const none = { temperature: 1, trajectories: [], advantages: [] }
    return { ...none, update, report, looks, evaluations: looks.length }
  }
}

/** Rethrows an error with its context, unless the signal abandoned the current update. */
function explain(error: unknown, givenUp: AbortSignal, done: number): void {
  if (givenUp.aborted && error === givenUp.reason) return
  if (error instanceof NonFiniteError)
    throw new RunError(
      `Update ${done}, counted from 0, was not applied. ${error.message} The run stays as it was after ${done} updates.`,
      { cause: error },
    )
  throw error
}

/** Calls a function about once a second until disposed. */
function pulse(tell: () => void): Disposable {
  const timer = setInterval(tell, 1000).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
