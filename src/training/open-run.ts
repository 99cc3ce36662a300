import { PolicyLearner } from '../learning/policy-learner.ts'
import { untrainedPolicy } from '../learning/untrained-policy.ts'
import { paperAdam } from '../numerics/adam.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import type { Spent } from '../store/budget.ts'
import { noteSpent } from '../store/call-journal.ts'
import type { Checkpoint } from '../store/checkpoint.ts'
import { assertUnchanged } from '../store/run-evidence.ts'
import type { RunRecord } from '../store/run-folder.ts'
import { assertSameOrder, assertSameRun } from '../store/same-run.ts'
import { membership, splitOf } from '../tasks/task-set.ts'
import { describeRun } from './describe-run.ts'
import type { PreparedRun } from './prepare-run.ts'
import { checkPrice } from './self-check.ts'

/** A run that is in its folder, with the policy as its last checkpoint has it. */
export interface OpenedRun {
  readonly record: RunRecord
  readonly learner: PolicyLearner
  /** Updates in the checkpoint it goes on from; absent where there is none yet. */
  readonly done?: number
  /** The state after so many updates, without what it rests on. */
  state(update: number): Checkpoint
}

/** Makes the run's folder. `checked` is what the self-check spent. */
export async function beginRun(prepared: PreparedRun, checked: Spent): Promise<OpenedRun> {
  const { folder } = prepared
  const run = await untrainedRun(prepared)
  // The self-check's spending comes first, so that no run is without it.
  if (checked.calls + checked.unknown > 0) noteSpent(folder.callsFile, { sum: checked, of: 'self-check' })
  folder.create(run.record, tasksOf(prepared))
  return run
}

/** Goes on with a run. Throws, with nothing changed, where it is not what it was. */
export async function reopenRun(prepared: PreparedRun, fromUpdate: number | undefined): Promise<OpenedRun> {
  const { folder, parts, budget } = prepared
  const run = await untrainedRun(prepared)
  const { record, learner } = run
  const update = fromUpdate ?? folder.checkpoints().at(-1)
  if (update !== undefined) assertUnchanged(folder, update)
  assertSameRun(folder.readRecord(), record)
  const checkpoint = folder.readCheckpoint(identityOf(run), update)
  // A cap may be new. The rest was checked when the run began.
  checkPrice(parts, budget)
  if (checkpoint === undefined) folder.writeTasks(tasksOf(prepared))
  else assertSameOrder(folder.readMembership(), splitOf(parts.set, 'train').tasks)
  folder.updateRecord(record)
  if (checkpoint === undefined) return run
  learner.policy.parameters.write(checkpoint.parameters)
  if (checkpoint.optimizer !== undefined) learner.adam.write(checkpoint.optimizer)
  folder.removeCheckpointsAfter(checkpoint.update)
  return { ...run, done: checkpoint.update }
}

async function untrainedRun(prepared: PreparedRun): Promise<OpenedRun> {
  const { parts, settings, encoder } = prepared
  const record = describeRun(prepared)
  const policy = await untrainedPolicy(parts.set.library, settings, encoder)
  const learner = new PolicyLearner(policy, {
    adam: { ...paperAdam, learningRate: settings.learningRate },
    weights: { divergence: settings.divergenceWeight, entropy: settings.entropyWeight },
  })
  const state = (update: number): Checkpoint => ({
    ...identityOf({ record, learner }),
    seed: settings.seed,
    update,
    parameters: policy.parameters.read(),
    optimizer: learner.adam.read(),
  })
  return { record, learner, state }
}

function identityOf({ record, learner }: Pick<OpenedRun, 'record' | 'learner'>) {
  const { dimensions } = learner.policy.options
  return { dimensions, library: record.library, encoder: record.encoder.fingerprint, arithmetic }
}

function tasksOf({ parts: { set } }: PreparedRun) {
  return { membership: membership(set), library: set.library }
}
