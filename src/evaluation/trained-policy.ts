import { chooseEncoder } from '../encoder/choose-encoder.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { inputFingerprint } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { policyOptions } from '../learning/untrained-policy.ts'
import type { Library } from '../library/library.ts'
import { ConstructionPolicy, type PolicyOptions } from '../policy/policy.ts'
import { RunError, RunFolder, type RunRecord } from '../store/run-folder.ts'
import {
  type PolicyOrganisation,
  type PolicyOrganisationOptions,
  policyOrganisation,
} from './policy-organisation.ts'

/** A policy as a run has left it, ready for use. */
export interface TrainedPolicy {
  readonly run: RunRecord
  readonly folder: RunFolder
  /** Updates that it has learned from. */
  readonly update: number
  readonly policy: ConstructionPolicy
  readonly library: Library
  readonly encoder: FrozenTextEncoder
  /** The organisation that it builds for each question, with the run's own seed and restriction by default. */
  organisation(
    options?: Partial<Pick<PolicyOrganisationOptions, 'name' | 'seed' | 'restriction'>>,
  ): PolicyOrganisation
}

export interface LoadOptions {
  /** Found by its name in the run where it is not given. Another one than the run was trained with is refused. */
  readonly encoder?: FrozenTextEncoder
  /** The newest checkpoint by default; 0 is the untrained policy, which is always there. */
  readonly update?: number
}

/**
 * Loads a trained policy from a run's folder, or from its folder's path.
 *
 * @example
 * const policy = await loadPolicy('runs/my-task')
 * const { answer } = await solve({ policy, task: { question: 'What is 6 times 7?' }, model })
 */
export async function loadPolicy(
  folder: string | RunFolder,
  options: LoadOptions = {},
): Promise<TrainedPolicy> {
  const from = typeof folder === 'string' ? new RunFolder(folder) : folder
  const run = from.readRecord()
  const library = from.readLibrary(run)
  const encoder = options.encoder ?? (await encoderOf(run))
  if (inputFingerprint(encoder) !== run.encoder.fingerprint)
    throw new RunError(
      `The run ${run.name} was trained with the text encoder ${run.encoder.name}; with ${encoder.name} its policy would be of no use.`,
    )
  const shape = await policyOptions(library, run.training, encoder)
  // The weights come straight from the checkpoint; only the untrained policy draws its own.
  const checkpoint = options.update === 0 ? undefined : readWeights(from, run, shape, options.update)
  const update = checkpoint?.update ?? 0
  const policy =
    checkpoint === undefined
      ? ConstructionPolicy.initialize(shape, run.training.seed)
      : new ConstructionPolicy(shape, checkpoint.parameters)
  const { seed, restriction, temperatureEnd: temperature } = run.training
  const set = { name: run.tasks.name, library, profile: run.profile }
  const name = update === 0 ? 'untrained' : 'trained'
  const description =
    update === 0
      ? 'A graph that the untrained policy builds for each question.'
      : `A graph that the policy builds for each question, after ${update} updates.`
  const usual = { name, description, set, encoder, seed, restriction, temperature }
  const organisation: TrainedPolicy['organisation'] = (given) =>
    policyOrganisation(policy, { ...usual, ...given })
  return { run, folder: from, update, policy, library, encoder, organisation }
}

function readWeights(from: RunFolder, run: RunRecord, { dimensions }: PolicyOptions, update?: number) {
  // The arithmetic of this machine may be another: what was trained can be used all the same.
  const expected = { dimensions, library: run.library, encoder: run.encoder.fingerprint }
  const checkpoint = from.readCheckpoint(expected, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.name} has no checkpoint yet.`)
  return checkpoint
}

async function encoderOf({ encoder: { name } }: RunRecord): Promise<FrozenTextEncoder> {
  if (name === lexicalEncoder.name) return lexicalEncoder
  const { encoder } = await chooseEncoder({ encoder: 'minilm' })
  return encoder
}
