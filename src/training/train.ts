import { queryEmbedding } from '../encoder/query-embedding.ts'
import { NonFiniteError } from '../learning/finite.ts'
import { NonFiniteUpdateError } from '../learning/policy-learner.ts'
import { type FinishedUpdate, trainPolicy } from '../learning/train-policy.ts'
import { rewardsOf } from '../settings/training.ts'
import { Budget } from '../store/budget.ts'
import { RunError, RunFolder } from '../store/run-folder.ts'
import { splitOf, splitVersion } from '../tasks/task-set.ts'
import { FolderClaim } from './claim-folder.ts'
import { beginRun, type OpenedRun, reopenRun } from './open-run.ts'
import { checkRun, type PreparedRun, prepareRun, priceIn } from './prepare-run.ts'
import { RunEnd } from './run-end.ts'
import { RunFiles } from './run-files.ts'
import type { TrainingResult, TrainOptions } from './train-options.ts'
import { TrainingEvaluator } from './training-evaluator.ts'
import { updateRecord } from './update-record.ts'

/**
 * Trains a construction policy by Procedure A1, and keeps everything in the run's folder: after every update the state is
 * written, so that a run that was killed at any moment goes on to the same weights, bit for bit.
 */
export async function train(options: TrainOptions): Promise<TrainingResult> {
  const folder = new RunFolder(options.folder)
  const isResumed = options.resume === true
  using claim = await FolderClaim.of(folder, isResumed)
  const prepared = await prepareRun(folder, options)
  if (isResumed) return await trainRun(prepared, await reopenRun(prepared, options.fromUpdate), options)
  const checked = await checkRun(prepared, options)
  await claim.take()
  return await trainRun(prepared, await beginRun(prepared, checked), options)
}

/** Sample, evaluate, learn, write down; until all updates are done, the signal comes or a cap is reached. */
async function trainRun(
  prepared: PreparedRun,
  run: OpenedRun,
  { onEvent, signal }: TrainOptions,
): Promise<TrainingResult> {
  const { folder, parts, settings } = prepared
  const price = priceIn(parts)
  let done = run.done ?? 0
  using end = new RunEnd(signal)
  await using files = await RunFiles.open(folder, done, price)
  if (run.done === undefined) await files.writeCheckpoint(run.state(0))
  const budget = new Budget(prepared.budget, price, files.journal)
  const evaluator = new TrainingEvaluator({
    parts: { ...parts, meter: budget },
    ledger: files.ledger,
    requestReuse: settings.requestReuse,
    signal: end.atOnce,
  })
  const queries = await embedQueries(prepared)
  using _ = pulse(() => onEvent?.({ type: 'working', spent: budget.spent }))
  onEvent?.({ type: 'start', record: run.record, done, inFlight: files.lostCalls })
  end.endIf(budget.reached() !== undefined)

  let start = performance.now()
  const onUpdate = async (finished: FinishedUpdate) => {
    const tally = evaluator.take()
    const now = performance.now()
    const boundMs = Math.max(tally.criticalMs, tally.workMs / parts.limit.limit)
    const line = updateRecord(finished, tally, { wallMs: now - start, boundMs, spent: budget.spent })
    start = now
    await files.writeUpdate(line, finished.trajectories, () => {
      done = finished.update + 1
      return run.state(done)
    })
    onEvent?.(line)
    end.endIf(budget.reached() !== undefined)
  }
  const schedule = { ...scheduleOf(prepared), queries, done, signal: end.afterUpdate }
  const learning = trainPolicy(run.learner, { ...schedule, evaluate: evaluator.evaluate, onUpdate })
  await learning.catch((error: unknown) => explain(error, end.atOnce, done)).finally(() => evaluator.ended())
  await files.written()
  return resultOf(prepared, done, budget)
}

async function embedQueries({ parts: { set }, encoder }: PreparedRun) {
  const queries: { id: string; embedding: Float32Array }[] = []
  for (const task of splitOf(set, 'train').tasks)
    queries.push({ id: task.id, embedding: await queryEmbedding(task, set, encoder) })
  return queries
}

function scheduleOf({ parts, settings, updates }: PreparedRun) {
  const { seed, passes, trajectories, probes, restriction, temperatureStart, temperatureEnd } = settings
  return {
    seed,
    dataVersion: splitVersion(parts.set, 'train'),
    passes,
    updates,
    trajectories,
    probes,
    temperature: { start: temperatureStart, end: temperatureEnd, updates: Math.max(1, updates) },
    restriction,
    rewards: rewardsOf(settings),
  }
}

/** Nothing where the signal gave the update under way up; else the error, in the run's words. */
function explain(error: unknown, atOnce: AbortSignal, done: number): void {
  if (atOnce.aborted && error === atOnce.reason) return
  if (error instanceof NonFiniteError || error instanceof NonFiniteUpdateError)
    throw new RunError(
      `Update ${done}, counted from 0, was not applied. ${error.message} The run is kept as it was after ${done} updates.`,
      { cause: error },
    )
  throw error
}

function resultOf({ folder, updates }: PreparedRun, done: number, budget: Budget): TrainingResult {
  const name = done < updates ? budget.reached() : undefined
  return {
    status: done >= updates ? 'finished' : name === undefined ? 'interrupted' : 'budget-reached',
    folder: folder.path,
    done,
    updates,
    spent: budget.spent,
    cap: name && { name, overshoot: budget.overshoot(name) },
  }
}

/** Does something about once a second, until it is disposed of. */
function pulse(tell: () => void): Disposable {
  const timer = setInterval(tell, 1000).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
