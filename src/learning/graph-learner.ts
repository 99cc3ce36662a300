import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'
import type { Adam } from '../numerics/adam.ts'
import type { Parameters } from '../numerics/parameters.ts'
import type { GraphScore, ScoreGraph } from './update.ts'

/** The result of running a graph on a training question. */
export interface GraphLook extends GraphScore {
  readonly graph: AgentGraph
  /** The question's id. */
  readonly task: string
}

/** The input of one update. */
export interface LearningRound {
  /** Counted from 0. */
  readonly update: number
  /** The training questions, in order. */
  readonly tasks: readonly Task[]
  /** The looks of each earlier update. */
  readonly rounds: readonly (readonly GraphLook[])[]
  readonly evaluate: ScoreGraph
  /** Asked between optimizer steps. If it says no, the update is abandoned. */
  readonly mayContinue: () => boolean
}

/** The graphs an update ran, and the loss of its last step. */
export interface LearnedRound {
  readonly looks: readonly GraphLook[]
  readonly loss: number
}

/**
 * Learns in place of the policy. An update depends only on weights, moments, its number, the seed and earlier looks,
 * so a resumed run ends with identical weights. If an evaluation fails, no weight changes.
 */
export interface GraphLearner {
  readonly parameters: Parameters
  readonly adam: Adam
  /** If it learns from the cost of graphs, so that a model without a price is refused: the option that does without. */
  readonly needsPrice?: string
  /** Number of updates of a full training on this many questions. */
  updatesFor(questions: number): number
  /** Undefined for an abandoned update. Its weights are then half-trained: resume from the last checkpoint. */
  update(round: LearningRound): Promise<LearnedRound | undefined>
  /**
   * The graph for a task after training. The same task and seed always give the same graph. The seed defaults to that
   * of the training.
   */
  graphFor(task: Task, seed?: number): Promise<AgentGraph>
}

/** How a run finds its learner: by a name and options kept in its record. */
export interface LearnerSource {
  readonly name: string
  readonly options: JsonObject
  open(means: {
    readonly library: Library
    readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
    readonly encoder: FrozenTextEncoder
    readonly seed: number
  }): GraphLearner | Promise<GraphLearner>
}

/** Runs all graphs on their questions concurrently. */
export function lookAt(
  pairs: readonly { readonly graph: AgentGraph; readonly task: string }[],
  evaluate: ScoreGraph,
): Promise<GraphLook[]> {
  return Promise.all(
    pairs.map(async ({ graph, task }) => ({ graph, task, ...(await evaluate(graph, task)) })),
  )
}
