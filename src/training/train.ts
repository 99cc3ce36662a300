import { existsSync, mkdirSync } from 'node:fs'
import { basename } from 'node:path'
import { chooseEncoder } from '../encoder/choose-encoder.ts'
import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { ExecutionClock } from '../execution/deadline.ts'
import { type GivenSandbox, openToolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import { NonFiniteError } from '../learning/finite.ts'
import { NonFiniteUpdateError, PolicyLearner } from '../learning/policy-learner.ts'
import { type FinishedUpdate, trainPolicy } from '../learning/train-policy.ts'
import { untrainedPolicy } from '../learning/untrained-policy.ts'
import type { JsonObject } from '../library/json-value.ts'
import { CallLimit } from '../models/call-limit.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { type Price, priceOf } from '../models/prices.ts'
import { paperAdam } from '../numerics/adam.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import { type BudgetSettings, budgetSettings } from '../settings/budget.ts'
import { defaultConcurrency, executionSettings } from '../settings/execution.ts'
import {
  type GivenTrainingSettings,
  rewardsOf,
  type TrainingSettings,
  trainingSettings,
} from '../settings/training.ts'
import { Budget, type Cap, type Spent } from '../store/budget.ts'
import { CallJournal, noteSpent } from '../store/call-journal.ts'
import type { Checkpoint, CheckpointIdentity } from '../store/checkpoint.ts'
import { LineFile } from '../store/durable-file.ts'
import { failPoint } from '../store/fail-point.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { MeteredModel } from '../store/metered-model.ts'
import { assertUnchanged, evidenceOf } from '../store/run-evidence.ts'
import { RunError, RunFolder, type RunRecord } from '../store/run-folder.ts'
import { RunLock } from '../store/run-lock.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import { assertSameOrder, assertSameRun } from '../store/same-run.ts'
import { membership } from '../tasks/membership.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'
import { carryOverSpending, lastUpdate } from './carry-over-spending.ts'
import { type BegunRun, describeRun } from './describe-run.ts'
import { type Check, checkPrice, selfCheck } from './self-check.ts'
import { TrainingEvaluator } from './training-evaluator.ts'
import { type UpdateRecord, updateRecord } from './update-record.ts'

export interface TrainOptions {
  /** What is learned from, and for. */
  readonly set: TaskSet
  readonly model: ChatModel
  /** The run's folder. It must not be a run yet, unless this one is resumed. */
  readonly folder: string
  /** The paper's where nothing is given. */
  readonly settings?: GivenTrainingSettings
  readonly budget?: BudgetSettings
  /** Model calls in flight at most; the paper's 8 by default. */
  readonly concurrency?: number
  readonly execution?: Parameters<typeof executionSettings.parse>[0]
  /** MiniLM where it can be had, else the lexical one. */
  readonly encoder?: FrozenTextEncoder
  /** The machine's where it is not given, and for a resume the one that the run was begun with; `null` for none. */
  readonly sandbox?: GivenSandbox
  /** Tools of one's own, which the profile may switch on. */
  readonly tools?: Iterable<Tool>
  /** Goes on with a run that was interrupted, with the settings that it was begun with. */
  readonly resume?: boolean
  /** Resumes from this checkpoint instead of the newest. */
  readonly fromUpdate?: number
  /** Kept in the run's record, for whoever wants to find tasks and model again. */
  readonly source?: JsonObject
  readonly onEvent?: (event: TrainingEvent) => void
  /** Time as retries and deadlines see it. */
  readonly clock?: ExecutionClock
  /** Ends the run at the next safe point, within five seconds; it can be resumed. */
  readonly signal?: AbortSignal
}

export type TrainingEvent =
  | { readonly type: 'note'; readonly text: string }
  | ({ readonly type: 'check' } & Check)
  | {
      readonly type: 'start'
      readonly record: RunRecord
      readonly done: number
      /**
       * Calls that were in flight when the run was last killed or stopped, at most: their answers are lost, and those
       * still needed are asked for again.
       */
      readonly inFlight: number
    }
  /** About once a second while calls are made. */
  | { readonly type: 'working'; readonly spent: Spent }
  | UpdateRecord

export interface TrainingResult {
  readonly status: 'finished' | 'interrupted' | 'budget-reached'
  readonly folder: string
  /** Updates done, of those that the run has. */
  readonly done: number
  readonly updates: number
  readonly spent: Spent
  /** The cap that was reached, and by how much it was passed, in its own unit. */
  readonly cap?: { readonly name: Cap; readonly overshoot: number }
}

/** An update that does not end within this time after the signal is given up; nothing that was answered is lost by it. */
const graceMs = 4000

/**
 * Trains a construction policy by Procedure A1, and keeps everything in the run's folder: after every update the state is
 * written, so that a run that was killed at any moment goes on to the same weights, bit for bit.
 */
export async function train(options: TrainOptions): Promise<TrainingResult> {
  const folder = new RunFolder(options.folder)
  const isResumed = options.resume === true
  if (isResumed && !folder.exists) throw new RunError(`${folder.path} is no run: there is nothing to resume.`)
  // Whoever comes second hears so at once, not after a model has been asked; but no folder is made for what cannot run.
  let lock = existsSync(folder.path) ? await RunLock.acquire(folder.path) : undefined
  try {
    if (!isResumed) assertNoRun(folder)
    const prepared = await prepare(folder, options)
    const checked = isResumed ? undefined : await check(prepared, options)
    if (lock === undefined) {
      mkdirSync(folder.path, { recursive: true })
      lock = await RunLock.acquire(folder.path)
      assertNoRun(folder)
    }
    return await runIn(prepared, options, checked)
  } finally {
    lock?.release()
  }
}

function assertNoRun(folder: RunFolder): void {
  // Weights of a run whose record was lost: a new one must neither go on from them nor take their place.
  if (!folder.exists && folder.checkpoints().length > 0)
    throw new RunError(
      `${folder.path} has checkpoints but no run.json. Put a copy of that back to resume, or choose another name.`,
    )
  if (!folder.exists) return
  throw new RunError(
    `${folder.path} is a run already. Resume it (\`magic resume ${basename(folder.path)}\`), or choose another name.`,
  )
}

type Prepared = Omit<BegunRun, 'name' | 'source'> & { readonly folder: RunFolder }

async function prepare(folder: RunFolder, options: TrainOptions): Promise<Prepared> {
  const { set, model, concurrency = defaultConcurrency } = options
  const settings = trainingSettings.parse(options.settings ?? {})
  const say = (text: string) => options.onEvent?.({ type: 'note', text })
  const begun = options.resume === true ? folder.readRecord() : undefined
  const sandbox = options.sandbox === undefined ? await sandboxOfRun(begun?.tools) : options.sandbox
  const encoder = options.encoder ?? (await chosenEncoder(say))
  const all = splitOf(set, 'train').tasks.length * settings.passes
  return {
    folder,
    parts: {
      set,
      model,
      tools: openToolbox(sandbox, options.tools),
      settings: executionSettings.parse(options.execution ?? {}),
      limit: new CallLimit(concurrency),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    },
    settings,
    budget: budgetSettings.parse(options.budget ?? {}),
    encoder,
    updates: settings.initialisationOnly ? 0 : Math.min(all, settings.updates ?? all),
  }
}

async function chosenEncoder(say: (text: string) => void): Promise<FrozenTextEncoder> {
  const { encoder, message } = await chooseEncoder({ onProblem: say })
  say(message)
  return encoder
}

/** Gives what the checks have spent. */
async function check({ parts, budget }: Prepared, { signal, onEvent }: TrainOptions): Promise<Spent> {
  const meter = new Budget({}, priceIn(parts))
  const metered = { ...parts, model: new MeteredModel(parts.model, meter) }
  const checks = selfCheck({ parts: metered, budget, ...(signal === undefined ? {} : { signal }) })
  for await (const done of checks) onEvent?.({ type: 'check', ...done })
  return meter.spent
}

function priceIn({ model, settings }: ExecutorParts): Price | undefined {
  return priceOf(model.identity, settings.prices)
}

/** The checkpoint to go on from. Throws, with nothing changed, where the run is not what it was. */
function reopen(
  { folder, parts, budget }: Prepared,
  record: RunRecord,
  identity: Partial<CheckpointIdentity>,
  fromUpdate: number | undefined,
): Checkpoint | undefined {
  const update = fromUpdate ?? folder.checkpoints().at(-1)
  if (update !== undefined) assertUnchanged(folder, update)
  assertSameRun(folder.readRecord(), record)
  const checkpoint = folder.readCheckpoint(identity, update)
  // A cap may be new. That the rest is right was seen when the run began.
  checkPrice(parts, budget)
  if (checkpoint === undefined) folder.writeTasks(tasksOf(parts))
  else assertSameOrder(folder.readMembership(), splitOf(parts.set, 'train').tasks)
  folder.updateRecord(record)
  return checkpoint
}

function tasksOf({ set }: ExecutorParts) {
  return { membership: membership(set), library: set.library }
}

async function runIn(
  prepared: Prepared,
  options: TrainOptions,
  checked: Spent | undefined,
): Promise<TrainingResult> {
  const { folder, parts, settings, encoder, updates } = prepared
  const { set } = parts
  const record = describeRun({
    ...prepared,
    name: basename(folder.path),
    ...(options.source === undefined ? {} : { source: options.source }),
  })
  const learner = await untrainedLearner(set, settings, encoder)
  const { policy } = learner
  const identity = identityOf(record, learner)
  let checkpoint: Checkpoint | undefined
  if (options.resume === true) checkpoint = reopen(prepared, record, identity, options.fromUpdate)
  else {
    // Before the run is there, so that no run is without it.
    if (checked !== undefined && checked.calls + checked.unknown > 0)
      noteSpent(folder.callsFile, { sum: checked, of: 'self-check' })
    folder.create(record, tasksOf(parts))
  }
  let done = checkpoint?.update ?? 0
  if (checkpoint !== undefined) {
    policy.parameters.write(checkpoint.parameters)
    if (checkpoint.optimizer !== undefined) learner.adam.write(checkpoint.optimizer)
    folder.removeCheckpointsAfter(done)
  }
  const price = priceIn(parts)
  await using files = new AsyncDisposableStack()
  const ledger = await SqliteLedger.open(folder.ledgerFile)
  files.defer(() => ledger.close())
  await carryOverSpending(folder, ledger)
  const updated = lastUpdate(folder)?.spent.calls ?? 0
  const journal = new CallJournal(folder.callsFile, price)
  files.defer(() => journal.close())
  const begunWith = done
  const isStale = (line: unknown) => ((line as Partial<UpdateRecord>).update ?? -1) >= begunWith
  const events = new LineFile(folder.eventsFile, isStale)
  files.defer(() => events.close())
  const trajectories = new LineFile(folder.trajectoriesFile, isStale)
  files.defer(() => trajectories.close())
  const evidence = evidenceOf(folder, [events, trajectories, journal])
  const state = (update: number): Checkpoint => ({
    ...identity,
    seed: settings.seed,
    update,
    parameters: policy.parameters.read(),
    optimizer: learner.adam.read(),
    restsOn: evidence(),
  })
  // A state is written while the next update's calls are under way. Who is killed meanwhile makes that update again, with the
  // ledger's answers.
  let written = Promise.resolve()
  const abandon = new AbortController()
  const boundary = new AbortController()
  const grace = () => setTimeout(() => abandon.abort(options.signal!.reason), graceMs).unref()
  options.signal?.addEventListener('abort', grace, { once: true })
  let pulse: NodeJS.Timeout | undefined
  try {
    const inFlight = journal.take({ replies: (await ledger.spending()).calls, updated })
    journal.sync()
    if (checkpoint === undefined) await folder.writeCheckpoint(state(0))
    const budget = new Budget(prepared.budget, price, journal)
    const evaluator = new TrainingEvaluator({
      parts: { ...parts, model: new MeteredModel(parts.model, budget) },
      ledger,
      requestReuse: settings.requestReuse,
      signal: abandon.signal,
    })
    const goOn = () => {
      if (options.signal?.aborted === true || budget.reached() !== undefined) boundary.abort()
    }
    const { tasks } = splitOf(set, 'train')
    const queries: { id: string; embedding: Float32Array }[] = []
    for (const task of tasks)
      queries.push({ id: task.id, embedding: await queryEmbedding(task, set, encoder) })
    pulse = setInterval(() => options.onEvent?.({ type: 'working', spent: budget.spent }), 1000).unref()
    options.onEvent?.({ type: 'start', record, done, inFlight })
    goOn()
    let start = performance.now()
    const onUpdate = async (finished: FinishedUpdate) => {
      const tally = evaluator.take()
      const end = performance.now()
      const wallMs = end - start
      start = end
      const boundMs = Math.max(tally.criticalMs, tally.workMs / parts.limit.limit)
      const line = updateRecord(finished, tally, { wallMs, boundMs, spent: budget.spent })
      await written
      failPoint('before:events')
      trajectories.append({ update: finished.update, trajectories: finished.trajectories })
      events.append(line)
      journal.sync()
      failPoint('after:events')
      done = finished.update + 1
      written = folder.writeCheckpoint(state(done)).then(() => failPoint('after:checkpoint'))
      // Errors surface at `await written`.
      written.catch(() => {})
      options.onEvent?.(line)
      goOn()
    }
    const work = () =>
      trainPolicy(learner, {
        seed: settings.seed,
        queries,
        dataVersion: splitVersion(set, 'train'),
        passes: settings.passes,
        updates,
        trajectories: settings.trajectories,
        probes: settings.probes,
        temperature: {
          start: settings.temperatureStart,
          end: settings.temperatureEnd,
          updates: Math.max(1, updates),
        },
        restriction: settings.restriction,
        rewards: rewardsOf(settings),
        evaluate: evaluator.evaluate,
        done,
        onUpdate,
        signal: boundary.signal,
      })
    await untilStopped(work, abandon.signal, () => done).finally(() => evaluator.ended())
    await written
    const cap = done < updates ? budget.reached() : undefined
    return {
      status: done >= updates ? 'finished' : cap === undefined ? 'interrupted' : 'budget-reached',
      folder: folder.path,
      done,
      updates,
      spent: budget.spent,
      ...(cap === undefined ? {} : { cap: { name: cap, overshoot: budget.overshoot(cap) } }),
    }
  } finally {
    clearInterval(pulse)
    options.signal?.removeEventListener('abort', grace)
    await written.catch(() => {})
  }
}

/** Ends without an error if the signal made it fail: then the update under way was given up. */
async function untilStopped(
  work: () => Promise<unknown>,
  given: AbortSignal,
  done: () => number,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (given.aborted && error === given.reason) return
    if (error instanceof NonFiniteError || error instanceof NonFiniteUpdateError)
      throw new RunError(
        `Update ${done()}, counted from 0, was not applied. ${error.message} The run is kept as it was after ${done()} updates.`,
        { cause: error },
      )
    throw error
  }
}

async function untrainedLearner(
  { library }: TaskSet,
  settings: TrainingSettings,
  encoder: FrozenTextEncoder,
): Promise<PolicyLearner> {
  return new PolicyLearner(await untrainedPolicy(library, settings, encoder), {
    adam: { ...paperAdam, learningRate: settings.learningRate },
    weights: { divergence: settings.divergenceWeight, entropy: settings.entropyWeight },
  })
}

function identityOf({ library, encoder }: RunRecord, { policy }: PolicyLearner) {
  return { dimensions: policy.options.dimensions, library, encoder: encoder.fingerprint, arithmetic }
}
