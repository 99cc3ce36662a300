// Procedure A1: one training update on one query.
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Restriction } from '../graph/legality.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, constructGraphs } from '../policy/construction.ts'
import { positionAligned } from './advantages.ts'
import type { UpdateReport } from './loss.ts'
import type { PolicyLearner } from './policy-learner.ts'
import { selectProbes } from './probes.ts'
import { returnsToGo } from './returns.ts'
import type { RewardSettings } from './reward-settings.ts'
import type { TerminalUsage } from './rewards.ts'
import { creditTrajectory, type Trajectory } from './trajectory.ts'

/** One graph run on one task and scored, by a ledger or by running it. */
export interface Evaluation {
  readonly score: number
  readonly usage?: TerminalUsage
}

/** Runs and scores a graph on a task, or finds that this was done. Asked once for what an update needs several times. */
export type Evaluate = (graph: AgentGraph, task: string) => Promise<Evaluation>

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
  readonly evaluate: Evaluate
}

export interface TrainedUpdate {
  readonly trajectories: readonly Trajectory[]
  readonly advantages: readonly (readonly number[])[]
  readonly report: UpdateReport
  /** Distinct pairs of graph and task that were asked for. */
  readonly evaluations: number
}

/**
 * Samples all trajectories first, since the policy never sees an execution; then every evaluation they need is run at
 * once, each pair of graph and task a single time; then credit, advantages and one optimizer step. Nothing depends on
 * the order in which evaluations return. If one is refused, no weight has changed.
 */
export async function updateOnQuery(learner: PolicyLearner, options: UpdateOptions): Promise<TrainedUpdate> {
  const { query, restriction, temperature, rewards } = options
  const probes = chooseProbes(options)
  const constructions = sampleTrajectories(learner, options)
  const evaluated = new SharedEvaluations(options.evaluate)
  const trajectories = await Promise.all(
    constructions.map(async (construction) =>
      creditTrajectory(await scored(construction, query.id, probes, evaluated, learner), rewards),
    ),
  )
  const advantages = positionAligned(trajectories.map(returnsToGo), rewards.epsilon)
  const report = learner.update({
    query: query.embedding,
    restriction,
    temperature,
    trajectories: constructions.map(({ steps }) => steps),
    advantages,
  })
  return { trajectories, advantages, report, evaluations: evaluated.size }
}

/** Without weight on the utility gain no probe can change a reward: none is run. */
function chooseProbes({ seed, update, query, pool, dataVersion, probes, rewards }: UpdateOptions): string[] {
  if (rewards.alpha === 0) return []
  return selectProbes({ seed, query: query.id, update, dataVersion, pool, count: probes })
}

function sampleTrajectories({ policy }: PolicyLearner, options: UpdateOptions): Construction[] {
  const { seed, update, query, restriction, temperature } = options
  return constructGraphs(
    policy,
    Array.from({ length: options.trajectories }, (_, trajectory) => ({
      query: query.embedding,
      random: deriveRandom(seed, 'trajectory', update, query.id, trajectory),
      restriction,
      temperature,
      dropout: true,
    })),
  )
}

/** Every prefix graph on every probe, the final graph on the query. */
async function scored(
  { graph, steps }: Construction,
  query: string,
  probes: readonly string[],
  evaluated: SharedEvaluations,
  { policy }: PolicyLearner,
) {
  const graphs = steps.map((step) => step.graph)
  const onProbes = graphs.map((prefix) => Promise.all(probes.map((probe) => evaluated.ask(prefix, probe))))
  const [terminal, ...prefixes] = await Promise.all([evaluated.ask(graph, query), ...onProbes])
  const scores = prefixes.map((evaluations) => evaluations.map(({ score }) => score))
  return {
    query,
    probes,
    actions: steps.map(({ action }) => action),
    forcedStop: graph.size === policy.options.dimensions.maxUnits,
    transitions: scores.slice(1).map((childScores, index) => ({ parentScores: scores[index]!, childScores })),
    terminalScore: terminal.score,
    ...(terminal.usage && { terminalUsage: terminal.usage }),
  }
}

/** Asks for each pair of graph and task once; graphs that differ only in construction order are one. */
class SharedEvaluations {
  readonly #evaluate: Evaluate
  readonly #asked = new Map<string, Promise<Evaluation>>()

  constructor(evaluate: Evaluate) {
    this.#evaluate = evaluate
  }

  get size(): number {
    return this.#asked.size
  }

  ask(graph: AgentGraph, task: string): Promise<Evaluation> {
    const key = JSON.stringify([graphKey(graph), task])
    const known = this.#asked.get(key)
    if (known !== undefined) return known
    const asked = this.#evaluate(graph, task)
    this.#asked.set(key, asked)
    return asked
  }
}
