import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { returnsToGo } from '../learning/returns.ts'
import type { Trajectory } from '../learning/trajectory.ts'
import type { TrainedUpdate } from '../learning/update.ts'
import type { Usage } from '../models/usage.ts'
import type { Spent } from '../store/budget.ts'
import type { EvaluationTally } from './training-evaluator.ts'

/** A line of `events.jsonl` about one update. */
export type UpdateRecord = ReturnType<typeof updateRecord>

export type TokenCount = Pick<Usage, 'calls' | 'input' | 'cachedInput' | 'output'>

/** A line of `trajectories.jsonl`: all that the credit of an update's trajectories can be recomputed from. */
export interface TrajectoryRecord {
  readonly update: number
  readonly trajectories: readonly Trajectory[]
  /** By values: the graphs that were chosen, and for which questions. */
  readonly chosen?: readonly { readonly graph: AgentGraph; readonly tasks: readonly string[] }[]
}

export function updateRecord(
  { update, query, temperature, trajectories, advantages, report, evaluations, gain, curve }: TrainedUpdate,
  { made, known, usage, reused, cost, boundMs }: EvaluationTally,
  { wallMs, spent }: { readonly wallMs: number; readonly spent: Spent },
) {
  const { loss: total, policyLoss: policy, meanDivergence: divergence, meanEntropy: entropy } = report
  return {
    type: 'update' as const,
    at: new Date().toISOString(),
    /** Counted from 0. */
    update,
    query,
    temperature,
    loss: { total, policy, divergence, entropy },
    ...learnedFrom(trajectories),
    advantages,
    gain,
    curve,
    evaluations: { asked: evaluations, made, known },
    made: tokenCount(usage),
    reused: tokenCount(reused),
    /** Attempts beyond the first of each call. Events of earlier versions lack it. */
    retries: usage.attempts - usage.calls,
    cost,
    wallMs,
    /** The shortest that the update's calls allowed at this call limit. */
    boundMs,
    spent,
  }
}

/** The line of `trajectories.jsonl` of an update. */
export function trajectoryRecord({ update, trajectories, chosen }: TrainedUpdate): TrajectoryRecord {
  if (chosen === undefined) return { update, trajectories }
  const alike = Map.groupBy(chosen, ({ graph }) => graphKey(graph))
  return {
    update,
    trajectories,
    chosen: [...alike.values()].map((same) => ({
      graph: same[0]!.graph,
      tasks: same.map(({ task }) => task),
    })),
  }
}

/** What of an update's record follows from its trajectories alone: `verify` makes it again. */
export function learnedFrom(trajectories: readonly Trajectory[]) {
  const scores = trajectories.map(({ terminalScore }) => terminalScore)
  return {
    /** Of the final graphs on the query. */
    score: scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length),
    returns: trajectories.map(returnsToGo),
    actions: actionMix(trajectories),
  }
}

function tokenCount({ calls, input, cachedInput, output }: TokenCount): TokenCount {
  return { calls, input, cachedInput, output }
}

/** How often which role was added in which realization, and how many graphs ended with how many units. */
function actionMix(trajectories: readonly Trajectory[]) {
  const roles: Record<string, { atomic: number; group: number }> = {}
  let edges = 0
  let possible = 0
  for (const { actions } of trajectories) {
    for (const [position, action] of actions.entries()) {
      if (action.type === 'stop') continue
      roles[action.role] ??= { atomic: 0, group: 0 }
      roles[action.role]![action.realization] += 1
      edges += action.predecessors.length
      possible += position
    }
  }
  return {
    roles,
    units: trajectories.map(({ transitions }) => transitions.length),
    /** Share of possible predecessors that were listened to. */
    edgeShare: possible === 0 ? 0 : edges / possible,
  }
}
