// Procedure A1: one training update on one query.
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, constructGraphs } from '../policy/construction.ts'
import { rewardsOf, type TrainingSettings } from '../settings/training.ts'
import { positionAligned } from './advantages.ts'
import type { GraphLook } from './graph-learner.ts'
import type { UpdateReport } from './loss.ts'
import type { PolicyLearner } from './policy-learner.ts'
import { selectProbes } from './probes.ts'
import { returnsToGo } from './returns.ts'
import type { TrainingQuestions } from './training-questions.ts'
import { creditTrajectory, type ScoredConstruction, type Trajectory } from './trajectory.ts'

/** S(G, q), with the usage of running the graph. */
export interface GraphScore {
  readonly score: number
  readonly usage?: ScoredConstruction['terminalUsage']
  /** In the currency of the model's price, as if no reply had been reused. Absent if the model has no price. */
  readonly cost?: number
}

/** Runs and scores a graph on a task, or looks up an earlier result. */
export type ScoreGraph = (graph: AgentGraph, task: string) => Promise<GraphScore>

export interface UpdateOptions {
  readonly settings: TrainingSettings
  readonly questions: TrainingQuestions
  /** Counted from 0. */
  readonly update: number
  /** Number of updates in the whole training. */
  readonly updates: number
  readonly evaluate: ScoreGraph
}

/** What an update did. */
export interface TrainedUpdate {
  readonly update: number
  /** The question it was about, if there was only one. */
  readonly query?: string
  readonly temperature: number
  readonly trajectories: readonly Trajectory[]
  readonly advantages: readonly (readonly number[])[]
  readonly report: Pick<UpdateReport, 'loss' | 'policyLoss' | 'meanDivergence' | 'meanEntropy'>
  /** Number of distinct pairs of graph and task that were scored. */
  readonly evaluations: number
  /** For a learning organisation: the graphs that were run, instead of trajectories. */
  readonly looks?: readonly GraphLook[]
  /** Value learning only: the graph chosen for each training question. */
  readonly chosen?: readonly { readonly task: string; readonly graph: AgentGraph }[]
  /** Value learning only: the gain of choosing per question, measured on left-out questions. */
  readonly gain?: number
  /** Value learning only, last update: what choices based on fewer questions would have scored. */
  readonly curve?: readonly { readonly questions: number; readonly score: number }[]
}

/**
 * Procedure A1. The policy never sees an execution, so all trajectories are sampled first and all their scores are
 * requested at once. Nothing depends on the order in which scores arrive. If one fails, no weight changes.
 *
 * An update depends only on the weights, the optimizer's moments, its number and the seed, so a resumed run ends with
 * identical weights.
 */
export async function updatePolicy(learner: PolicyLearner, options: UpdateOptions): Promise<TrainedUpdate> {
  const { settings, questions, update, updates, evaluate } = options
  const { seed, restriction } = settings
  const rewards = rewardsOf(settings)

  // Inputs: the next question, at a falling temperature, and one probe set for all trajectories.
  const query = questions.queries[update % questions.queries.length]!
  const temperature = temperatureAt(update, updates, settings)
  // Without weight on the utility gain, probes cannot change a reward: none are run.
  const probes = selectProbes({
    seed,
    query: query.id,
    update,
    dataVersion: questions.dataVersion,
    pool: questions.queries.map(({ id }) => id),
    count: rewards.alpha === 0 ? 0 : settings.probes,
  })

  // Rollouts: K graphs from the current policy, each built until STOP.
  const constructions = constructGraphs(
    learner.policy,
    Array.from({ length: settings.trajectories }, (_, trajectory) => ({
      query: query.embedding,
      random: deriveRandom(seed, 'trajectory', update, query.id, trajectory),
      restriction,
      temperature,
      dropout: true,
    })),
  )

  // Additions and termination: scores become potentials, rewards and the settlement at STOP.
  const asked = new Map<string, Promise<GraphScore>>()
  const score: ScoreGraph = (graph, task) => {
    const key = JSON.stringify([graphKey(graph), task])
    const known = asked.get(key) ?? evaluate(graph, task)
    asked.set(key, known)
    return known
  }
  const trajectories = await Promise.all(
    constructions.map(async (construction) => {
      const scored = await scoreConstruction(construction, query.id, probes, score)
      const forcedStop = construction.graph.size === learner.policy.options.dimensions.maxUnits
      return creditTrajectory({ ...scored, forcedStop }, rewards)
    }),
  )

  // Update: returns, position-aligned advantages, one Adam step on the loss.
  const advantages = positionAligned(trajectories.map(returnsToGo), rewards.epsilon)
  const report = learner.update({
    query: query.embedding,
    restriction,
    temperature,
    trajectories: constructions.map(({ steps }) => steps),
    advantages,
  })
  return { update, query: query.id, temperature, trajectories, advantages, report, evaluations: asked.size }
}

/** Scores the final graph on the query and, if a unit was added, every partial graph on every probe, concurrently. */
async function scoreConstruction(
  { graph, steps }: Construction,
  query: string,
  probes: readonly string[],
  score: ScoreGraph,
): Promise<Omit<ScoredConstruction, 'forcedStop'>> {
  // A construction without an addition has no gain to measure.
  const probed = steps.length === 1 ? [] : steps
  const onProbes = probed.map((step) => Promise.all(probes.map((probe) => score(step.graph, probe))))
  const [terminal, ...partial] = await Promise.all([score(graph, query), ...onProbes])
  const probeScores = partial.map((onEach) => onEach.map((one) => one.score))
  return {
    query,
    probes,
    actions: steps.map(({ action }) => action),
    transitions: probeScores.slice(1).map((childScores, position) => ({
      parentScores: probeScores[position]!,
      childScores,
    })),
    terminalScore: terminal.score,
    terminalUsage: terminal.usage,
  }
}

/**
 * The sampling temperature of an update, counted from 0: it falls linearly from the start's at update 0 to the end's
 * at the last update of the schedule. A schedule of one update samples at the start's; updates after the schedule
 * stay at the end's.
 */
export function temperatureAt(
  update: number,
  updates: number,
  {
    temperatureStart: start,
    temperatureEnd: end,
    temperatureUpdates,
  }: Pick<TrainingSettings, 'temperatureStart' | 'temperatureEnd' | 'temperatureUpdates'>,
): number {
  if (update === 0) return start
  const scheduled = temperatureUpdates === 0 ? updates : temperatureUpdates
  const progress = Math.min(1, update / (scheduled - 1))
  return (1 - progress) * start + progress * end
}
