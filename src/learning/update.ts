// Procedure A1: one training update on one query.
import type { Restriction } from '../graph/legality.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, constructGraphs } from '../policy/construction.ts'
import type { ConstructionPolicy } from '../policy/policy.ts'
import type { RewardSettings } from '../settings/rewards.ts'
import { positionAligned } from './advantages.ts'
import type { UpdateReport } from './loss.ts'
import type { PolicyLearner } from './policy-learner.ts'
import { selectProbes } from './probes.ts'
import { returnsToGo } from './returns.ts'
import { type ScoreGraph, scoreConstruction, UpdateScores } from './score-construction.ts'
import { creditTrajectory, type Trajectory } from './trajectory.ts'

export interface UpdateOptions {
  readonly seed: number
  /** Counted from 0. */
  readonly update: number
  readonly query: { readonly id: string; readonly embedding: ArrayLike<number> }
  /** Ids of the training tasks. */
  readonly pool: Iterable<string>
  readonly dataVersion: string
  readonly trajectories: number
  readonly probes: number
  readonly temperature: number
  readonly restriction: Restriction
  readonly rewards: RewardSettings
  readonly evaluate: ScoreGraph
}

export interface TrainedUpdate {
  readonly trajectories: readonly Trajectory[]
  readonly advantages: readonly (readonly number[])[]
  readonly report: UpdateReport
  /** Distinct pairs of graph and task that were scored. */
  readonly evaluations: number
}

/**
 * The policy never sees an execution, so all trajectories are sampled first and all scores they need are asked for at
 * once. Nothing depends on the order in which scores arrive. If one fails, no weight has changed.
 */
export async function updateOnQuery(learner: PolicyLearner, options: UpdateOptions): Promise<TrainedUpdate> {
  const { policy } = learner
  const { query, restriction, temperature, rewards, evaluate } = options

  // Inputs: one probe set for all trajectories.
  const probes = chooseProbes(options)

  // Rollouts: K graphs from the current policy, each built until STOP.
  const constructions = sampleTrajectories(policy, options)

  // Additions and termination: scores become potentials, rewards and the settlement at STOP.
  const scores = new UpdateScores(evaluate)
  const trajectories = await Promise.all(
    constructions.map(async (construction) => {
      const scored = await scoreConstruction(construction, query.id, probes, scores)
      const forcedStop = construction.graph.size === policy.options.dimensions.maxUnits
      return creditTrajectory({ ...scored, forcedStop }, rewards)
    }),
  )

  // Update: returns, position-aligned advantages, one Adam step on the loss.
  const advantages = positionAligned(trajectories.map(returnsToGo), rewards.epsilon)
  const steps = constructions.map((construction) => construction.steps)
  const report = learner.update({
    query: query.embedding,
    restriction,
    temperature,
    trajectories: steps,
    advantages,
  })
  return { trajectories, advantages, report, evaluations: scores.size }
}

/** Without weight on the utility gain, probes cannot change a reward: none are run. */
function chooseProbes({ seed, update, query, pool, dataVersion, probes, rewards }: UpdateOptions): string[] {
  if (rewards.alpha === 0) return []
  return selectProbes({ seed, query: query.id, update, dataVersion, pool, count: probes })
}

function sampleTrajectories(policy: ConstructionPolicy, options: UpdateOptions): Construction[] {
  const { seed, update, query, restriction, temperature } = options
  const jobs = Array.from({ length: options.trajectories }, (_, trajectory) => ({
    query: query.embedding,
    random: deriveRandom(seed, 'trajectory', update, query.id, trajectory),
    restriction,
    temperature,
    dropout: true,
  }))
  return constructGraphs(policy, jobs)
}
