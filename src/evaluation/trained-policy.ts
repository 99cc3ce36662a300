import { chooseEncoder } from '../encoder/choose-encoder.ts'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import { inputFingerprint, queryEmbedding, queryTexts } from '../encoder/query-embedding.ts'
import { rememberRecent } from '../encoder/recent-texts.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Restriction } from '../graph/legality.ts'
import { policyOptions } from '../learning/untrained-policy.ts'
import type { Library } from '../library/library.ts'
import type { Task } from '../library/task.ts'
import type { Organiser } from '../organisations/organisation.ts'
import { constructionBatch, type GraphBuilder, type GraphOrder } from '../policy/construction-batch.ts'
import { constructionThread } from '../policy/construction-thread.ts'
import { type ExplainedStep, explainSteps } from '../policy/explained-steps.ts'
import { ConstructionPolicy, type PolicyOptions } from '../policy/policy.ts'
import { isArchivedExport, unpackExport } from '../store/exported-run.ts'
import { RunError, RunFolder, type RunRecord } from '../store/run-folder.ts'
import { loadLearner } from './trained-learner.ts'

/** A run's policy, ready for use. */
export interface TrainedPolicy {
  readonly run: RunRecord
  readonly folder: RunFolder
  /** Number of updates it has learned from. */
  readonly update: number
  /** Absent if the run trained another organisation. */
  readonly policy?: ConstructionPolicy
  readonly library: Library
  readonly encoder: FrozenTextEncoder
  /** The policy as an organisation, with the run's seed and restriction by default. */
  organisation(options?: OrganisationOptions): TrainedOrganisation
}

export interface OrganisationOptions {
  readonly name?: string
  readonly seed?: number
  readonly restriction?: Restriction
  /** 0 takes the most probable choices. Default: the run's. */
  readonly temperature?: number
}

export interface TrainedOrganisation extends Organiser {
  graphFor(task: Task): Promise<AgentGraph>
  /** Builds the task's graph, with an explanation of its steps. */
  constructionFor(task: Task): Promise<ExplainedConstruction>
}

/** A built graph and, if a policy built it, its steps. */
export interface ExplainedConstruction {
  readonly graph: AgentGraph
  /** 0 means the most probable choices were taken; probabilities are then those at temperature 1. */
  readonly temperature: number
  /** The decisions with their probabilities. Empty if no policy built the graph. */
  explain(): readonly ExplainedStep[]
}

export interface LoadOptions {
  /** Default: the run's encoder. Any other encoder is refused. */
  readonly encoder?: FrozenTextEncoder
  /** Default: the newest checkpoint. 0 is the untrained policy, which is always available. */
  readonly update?: number
  /** Build graphs in a thread of their own, so that a busy process such as a server is not held up. Default: false. */
  readonly thread?: boolean
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
      `The run ${run.name} was trained with the text encoder ${run.encoder.name}, and its policy does not work with ${encoder.name}.`,
    )
  if (run.organisation !== undefined) return loadLearner(from, run, library, encoder, options)
  const shape = await policyOptions(library, run.training, encoder)
  // The weights come from the checkpoint; only the untrained policy initializes its own.
  const checkpoint = options.update === 0 ? undefined : readWeights(from, run, shape, options.update)
  const update = checkpoint?.update ?? 0
  const policy =
    checkpoint === undefined
      ? ConstructionPolicy.initialize(shape, run.training.seed)
      : new ConstructionPolicy(shape, checkpoint.parameters)
  const loaded = { run, folder: from, update, policy, library, encoder }
  const built = options.thread ? constructionThread(policy) : constructionBatch(policy)
  const graphs = new Map<string, AgentGraph>()
  const build: GraphBuilder = async (order) => {
    const { graph, steps } = await built(order)
    return { graph: sameGraph(graphs, graph), steps }
  }
  const means = { ...loaded, policy, encoder: rememberRecent(encoder), build }
  return { ...loaded, organisation: (given = {}) => policyOrganisation(means, given) }
}

const rememberedGraphs = 1000

/** Returns an equal graph built before, if remembered, because plans are cached per graph object. */
function sameGraph(graphs: Map<string, AgentGraph>, graph: AgentGraph): AgentGraph {
  const key = JSON.stringify(graph)
  const same = graphs.get(key) ?? graph
  graphs.delete(key)
  graphs.set(key, same)
  if (graphs.size > rememberedGraphs) graphs.delete(graphs.keys().next().value!)
  return same
}

interface Means extends Omit<TrainedPolicy, 'organisation' | 'policy'> {
  readonly policy: ConstructionPolicy
  readonly build: GraphBuilder
}

function folderAt(path: string): RunFolder | Promise<RunFolder> {
  return isArchivedExport(path) ? unpackExport(path) : new RunFolder(path)
}

/**
 * A policy in use (Procedure A2): it samples until STOP, without dropout. As in the paper, draws are determined by
 * seed and task id. If a temperature for use is set, they are determined by seed and the task's text, so that a
 * question gets the same graph under any id.
 */
function policyOrganisation(
  { run, update, policy, library, encoder, build }: Means,
  given: OrganisationOptions,
): TrainedOrganisation {
  const { useTemperature } = run.training
  const { temperature = useTemperature ?? run.training.temperatureEnd } = given
  const isPapers = given.temperature === undefined && useTemperature === undefined
  const { name = update === 0 ? 'untrained' : 'trained' } = given
  const { seed = run.training.seed, restriction = run.training.restriction } = given
  const set = { name: run.tasks.name, library, profile: run.profile }
  const constructionFor = async (task: Task) => {
    const query = await queryEmbedding(task, set, encoder)
    const draws: GraphOrder['draws'] = isPapers
      ? [seed, 'inference', task.id]
      : [seed, 'use', JSON.stringify(queryTexts(task, set))]
    const sampling = temperature === 0 ? { temperature: 1 } : { temperature, draws }
    const { graph, steps } = await build({ query, ...sampling, restriction })
    return {
      graph,
      temperature,
      explain: () => explainSteps(policy, { query, steps, restriction, temperature: sampling.temperature }),
    }
  }
  const built = temperature === 0 ? 'The most probable graph' : 'A graph'
  return {
    name,
    description:
      update === 0
        ? `${built} that the untrained policy builds for each question.`
        : `${built} that the policy builds for each question, after ${update} updates.`,
    graphFor: async (task) => (await constructionFor(task)).graph,
    constructionFor,
  }
}

function readWeights(from: RunFolder, run: RunRecord, { dimensions }: PolicyOptions, update?: number) {
  // Arithmetic is not compared: a policy can be used on a machine that computes differently.
  const { library, encoder, training } = run
  const expected = { dimensions, library, encoder: encoder.fingerprint, gain: training.gain }
  const kept = from.checkpoints()
  if (update !== undefined && !kept.includes(update))
    throw new RunError(
      `The run has no checkpoint of update ${update}. There are ${[0, ...kept.filter((one) => one > 0)].join(', ')}; 0 is the untrained policy.`,
    )
  const checkpoint = from.readCheckpoint(expected, update)
  if (checkpoint === undefined) throw new RunError(`The run ${run.name} has no checkpoint yet.`)
  return checkpoint
}
