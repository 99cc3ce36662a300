import { chooseEncoder } from '../encoder/choose-encoder.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { inputFingerprint, queryEmbedding } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Restriction } from '../graph/legality.ts'
import { policyOptions } from '../learning/untrained-policy.ts'
import type { Library } from '../library/library.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, type ConstructionJob, constructGraphs } from '../policy/construction.ts'
import { ConstructionPolicy, type PolicyOptions } from '../policy/policy.ts'
import { isArchivedExport, unpackExport } from '../store/exported-run.ts'
import { RunError, RunFolder, type RunRecord } from '../store/run-folder.ts'
import type { Organisation } from './organisation.ts'

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
  organisation(options?: OrganisationOptions): PolicyOrganisation
}

interface OrganisationOptions {
  readonly name?: string
  readonly seed?: number
  readonly restriction?: Restriction
}

export interface PolicyOrganisation extends Organisation {
  graphFor(task: Task): Promise<AgentGraph>
  /** How the task's graph comes about, step by step. */
  constructionFor(task: Task): Promise<PolicyConstruction>
}

/** A construction, with all that its probabilities can be found again from. */
export type PolicyConstruction = Construction & ConstructionJob & { readonly query: Float32Array }

export interface LoadOptions {
  /** By default the run's, found by its name. One that the run was not trained with is refused. */
  readonly encoder?: FrozenTextEncoder
  /** The newest checkpoint by default; 0 is the untrained policy, which is always there. */
  readonly update?: number
}

/**
 * Loads a trained policy from a run's folder or its path, or from an export (`magic export`).
 *
 * @example
 * const policy = await loadPolicy('runs/my-task')
 * const { answer } = await solve({ policy, task: { question: 'What is 6 times 7?' }, model })
 */
export async function loadPolicy(
  folder: string | RunFolder,
  options: LoadOptions = {},
): Promise<TrainedPolicy> {
  const from = typeof folder === 'string' ? await folderAt(folder) : folder
  const run = from.readRecord()
  const library = from.readLibrary(run)
  const usual = run.encoder.name === lexicalEncoder.name ? 'lexical' : 'minilm'
  const encoder = options.encoder ?? (await chooseEncoder({ encoder: usual })).encoder
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
  const loaded = { run, folder: from, update, policy, library, encoder }
  return { ...loaded, organisation: (given = {}) => policyOrganisation(loaded, given) }
}

function folderAt(path: string): RunFolder | Promise<RunFolder> {
  return isArchivedExport(path) ? unpackExport(path) : new RunFolder(path)
}

/**
 * A policy in use, by Procedure A2: it samples until STOP, without dropout. Its draws are fixed by seed and task id, and by
 * nothing else.
 */
function policyOrganisation(
  { run, update, policy, library, encoder }: Omit<TrainedPolicy, 'organisation'>,
  given: OrganisationOptions,
): PolicyOrganisation {
  const { temperatureEnd: temperature } = run.training
  const { name = update === 0 ? 'untrained' : 'trained' } = given
  const { seed = run.training.seed, restriction = run.training.restriction } = given
  const set = { name: run.tasks.name, library, profile: run.profile }
  const constructionFor = async (task: Task) => {
    const query = await queryEmbedding(task, set, encoder)
    const random = deriveRandom(seed, 'inference', task.id)
    const job = { query, random, restriction, temperature, dropout: false }
    return { ...job, ...constructGraphs(policy, [job])[0]! }
  }
  return {
    name,
    description:
      update === 0
        ? 'A graph that the untrained policy builds for each question.'
        : `A graph that the policy builds for each question, after ${update} updates.`,
    graphFor: async (task) => (await constructionFor(task)).graph,
    constructionFor,
  }
}

function readWeights(from: RunFolder, run: RunRecord, { dimensions }: PolicyOptions, update?: number) {
  // The arithmetic of this machine may be another: what was trained can be used all the same.
  const expected = { dimensions, library: run.library, encoder: run.encoder.fingerprint }
  const kept = from.checkpoints()
  // Only the newest are kept.
  if (update !== undefined && !kept.includes(update))
    throw new RunError(
      `The run has no checkpoint of update ${update}. There are ${[0, ...kept.filter((one) => one > 0)].join(', ')}; 0 is the untrained policy.`,
    )
  const checkpoint = from.readCheckpoint(expected, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.name} has no checkpoint yet.`)
  return checkpoint
}
