import { existsSync, mkdirSync } from 'node:fs'
import { basename } from 'node:path'
import type { GraphLearner } from '../learning/graph-learner.ts'
import type { PolicyLearner } from '../learning/policy-learner.ts'
import { untrainedLearner } from '../learning/untrained-policy.ts'
import { PolicyParameters } from '../policy/parameters.ts'
import type { Spent } from '../store/budget.ts'
import { noteSpent } from '../store/call-journal.ts'
import type { Checkpoint, CheckpointIdentity } from '../store/checkpoint.ts'
import { importEvaluations } from '../store/ledger/import-evaluations.ts'
import { givenAddress, type PostgresAddress } from '../store/postgres/address.ts'
import { assertUnchanged } from '../store/run-evidence.ts'
import { RunError, type RunFolder } from '../store/run-folder.ts'
import { openRunLedger, placeLedger } from '../store/run-ledger.ts'
import { RunLock } from '../store/run-lock.ts'
import { assertSameOrder, assertSameRun } from '../store/same-run.ts'
import { membership, splitOf } from '../tasks/task-set.ts'
import { type EarlierLook, keepEarlierLooks } from './earlier-looks.ts'
import type { PreparedRun } from './prepare-run.ts'
import { checkPrice } from './self-check.ts'

/** Locks a run's folder for writing, creating it for a new run. A second process is refused immediately. */
export async function claimFolder(folder: RunFolder, isResumed: boolean): Promise<RunLock> {
  if (isResumed && !folder.exists)
    throw new RunError(`${folder.path} is not a run: there is nothing to resume.`)
  mkdirSync(folder.path, { recursive: true })
  const lock = await RunLock.acquire(folder.path)
  try {
    if (!isResumed) assertNoRun(folder)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Checks early what `train` would refuse later, before an encoder is downloaded. */
export async function assertFree(folder: RunFolder, isResumed: boolean): Promise<void> {
  if (existsSync(folder.path)) (await claimFolder(folder, isResumed)).release()
}

function assertNoRun(folder: RunFolder): void {
  if (folder.exists)
    throw new RunError(
      `${folder.path} already contains a run. Resume it (\`magic resume ${basename(folder.path)}\`), or choose another name.`,
    )
  // Weights of a run whose record was lost: a new run must neither continue from them nor overwrite them.
  if (folder.checkpoints().length > 0)
    throw new RunError(
      `${folder.path} has checkpoints but no run.json. Put a copy of that back to resume, or choose another name.`,
    )
}

/** What a run trains: the policy or another learner. */
export type RunLearner = PolicyLearner | GraphLearner

/** A run in its folder, with the weights of its last checkpoint. */
export interface OpenedRun {
  readonly learner: RunLearner
  /** Updates in the checkpoint it continues from. Absent if there is no checkpoint yet. */
  readonly done?: number
}

/** Writes a new run into its folder. */
export async function beginRun(
  prepared: PreparedRun,
  {
    checked,
    ledger,
    address = givenAddress(),
    earlier = [],
  }: {
    /** What the self-check spent. */
    readonly checked?: Spent
    /** A ledger to copy evaluations from. */
    readonly ledger?: string
    /** The PostgreSQL for the run's own ledger. Default: `MAGIC_LEDGER`. */
    readonly address?: PostgresAddress
    readonly earlier?: readonly EarlierLook[]
  },
): Promise<OpenedRun> {
  const { folder, record } = prepared
  const learner = await learnerOf(prepared)
  // Written first, so that no run lacks the spending of its self-check.
  if (checked && checked.calls + checked.unknown > 0)
    noteSpent(folder.callsFile, { sum: checked, of: 'self-check' })
  // Before the record is written: a run killed before that is started afresh.
  await placeLedger(folder, address)
  if (ledger !== undefined) {
    await using own = await openRunLedger(folder, { address })
    await importEvaluations(ledger, own)
  }
  keepEarlierLooks(folder, earlier)
  folder.create(record, tasksOf(prepared))
  return { learner }
}

/** Continues a run. Throws, without touching anything, if something that decides its numbers has changed. */
export async function reopenRun(prepared: PreparedRun, fromUpdate: number | undefined): Promise<OpenedRun> {
  const { folder, parts, record } = prepared
  const learner = await learnerOf(prepared)
  const update = fromUpdate ?? folder.checkpoints().at(-1)
  if (update !== undefined) assertUnchanged(folder, update)
  assertSameRun(folder.readRecord(), record)
  const checkpoint = folder.readCheckpoint(identityOf(prepared), update)
  // A cap may be new; the rest was checked when the run began.
  checkPrice(parts, record.budget)
  if (checkpoint === undefined) folder.writeTasks(tasksOf(prepared))
  else assertSameOrder(folder.readMembership(), splitOf(parts.set, 'train').tasks)
  folder.updateRecord(record)
  if (checkpoint === undefined) return { learner }
  learner.parameters.write(checkpoint.parameters)
  if (checkpoint.optimizer !== undefined) learner.adam.write(checkpoint.optimizer)
  folder.removeCheckpointsAfter(checkpoint.update)
  return { learner, done: checkpoint.update }
}

/** The state after this many updates. Digests of the files it rests on are added when it is written. */
export function stateOf(prepared: PreparedRun, learner: RunLearner, update: number): Checkpoint {
  return {
    ...identityOf(prepared),
    seed: prepared.record.training.seed,
    update,
    parameters: learner.parameters.read(),
    optimizer: learner.adam.read(),
  }
}

function identityOf({ record, encoder: { dims: semantic }, learner }: PreparedRun): CheckpointIdentity {
  const { library, encoder, arithmetic, training, organisation } = record
  const { hidden, maxUnits, maxDepth, gain } = training
  const common = { library, encoder: encoder.fingerprint, arithmetic }
  if (learner === undefined) return { ...common, dimensions: { semantic, hidden, maxUnits, maxDepth }, gain }
  const { parameters } = learner
  // A learner may itself be a policy.
  const dimensions = parameters instanceof PolicyParameters ? parameters.dimensions : undefined
  return { ...common, dimensions, organisation: organisation?.name }
}

async function learnerOf({ parts, record, encoder, learner }: PreparedRun): Promise<RunLearner> {
  return learner ?? (await untrainedLearner(parts.set.library, record.training, encoder))
}

function tasksOf({ parts: { set } }: PreparedRun) {
  const tasks = Object.values(set.splits).flatMap((split) => split.tasks)
  const contracts = tasks
    .map((task) => set.contractOf(task))
    .map(({ name, description }) => [name, description])
  return { membership: membership(set), library: set.library, contracts: Object.fromEntries(contracts) }
}
