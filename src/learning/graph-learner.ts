import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { JsonObject } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'
import type { Adam } from '../numerics/adam.ts'
import type { Parameters } from '../numerics/parameters.ts'
import type { GraphScore, ScoreGraph } from './update.ts'

/** A graph that was run on a training question, with what came of it. */
export interface GraphLook extends GraphScore {
  readonly graph: AgentGraph
  /** The question's id. */
  readonly task: string
}

/** What one update of a learner is given. */
export interface LearningRound {
  /** Counted from 0. */
  readonly update: number
  /** The training questions, in their order. */
  readonly tasks: readonly Task[]
  /** The looks of each earlier update. */
  readonly rounds: readonly (readonly GraphLook[])[]
  readonly evaluate: ScoreGraph
}

/** What an update has looked at, and the loss of its last step. */
export interface LearnedRound {
  readonly looks: readonly GraphLook[]
  readonly loss: number
}

/**
 * What learns in a run in the policy's place. An update depends only on weights, moments, its number, the seed and earlier
 * looks, so a run that is resumed ends with identical weights. If an evaluation fails, no weight has changed.
 */
export interface GraphLearner {
  readonly parameters: Parameters
  readonly adam: Adam
  /** Whether it learns from what graphs cost: a model without a price is refused then. */
  readonly needsPrice?: boolean
  /** Updates of a whole training on this many questions. */
  updatesFor(questions: number): number
  update(round: LearningRound): Promise<LearnedRound>
  /** In use. The same task and seed always get the same graph; the seed is the training's, unless given. */
  graphFor(task: Task, seed?: number): Promise<AgentGraph>
}

/** How a run finds its learner: by a name and settings that its record keeps. */
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

/** Runs graphs on questions, all at once. */
export function lookAt(
  pairs: readonly { readonly graph: AgentGraph; readonly task: string }[],
  evaluate: ScoreGraph,
): Promise<GraphLook[]> {
  return Promise.all(
    pairs.map(async ({ graph, task }) => ({ graph, task, ...(await evaluate(graph, task)) })),
  )
}
