import { AgentGraph, type GraphJson, type Unit } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { GraphLook } from '../learning/graph-learner.ts'
import { returnsToGo } from '../learning/returns.ts'
import type { Trajectory } from '../learning/trajectory.ts'
import type { TrainedUpdate } from '../learning/update.ts'
import type { Usage } from '../models/usage.ts'
import type { Spent } from '../store/budget.ts'
import type { EvaluationTally } from './training-evaluator.ts'

/** A line of `events.jsonl` about one update. */
export type UpdateRecord = ReturnType<typeof updateRecord>

export type TokenCount = Pick<Usage, 'calls' | 'input' | 'cachedInput' | 'output'>

/** A line of `trajectories.jsonl`: everything needed to recompute the credit of an update. */
export interface TrajectoryRecord {
  readonly update: number
  readonly trajectories: readonly Trajectory[]
  /** For a learning organisation: the graphs that were run. */
  readonly looks?: readonly (Omit<GraphLook, 'graph'> & { readonly graph: GraphJson })[]
  /** Value learning only: the chosen graphs, each with its questions. */
  readonly chosen?: readonly { readonly graph: AgentGraph; readonly tasks: readonly string[] }[]
}

export function updateRecord(
  {
    update,
    query,
    temperature,
    trajectories,
    advantages,
    report,
    evaluations,
    looks,
    gain,
    curve,
  }: TrainedUpdate,
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
    ...learnedFrom(trajectories, looks),
    advantages,
    gain,
    curve,
    evaluations: { asked: evaluations, made, known },
    made: tokenCount(usage),
    reused: tokenCount(reused),
    /** Attempts beyond the first of each call. Missing in events of earlier versions. */
    retries: usage.attempts - usage.calls,
    cost,
    wallMs,
    /** Lower bound on the update's duration at this call limit. */
    boundMs,
    spent,
  }
}

/** The line for `trajectories.jsonl`. */
export function trajectoryRecord({ update, trajectories, looks, chosen }: TrainedUpdate): TrajectoryRecord {
  if (looks !== undefined) return { update, trajectories, looks }
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

/** The looks of an update, with their graphs restored. */
export function looksIn({ looks = [] }: TrajectoryRecord): GraphLook[] {
  return looks.map((look) => ({ ...look, graph: AgentGraph.from(look.graph) }))
}

/** The part of an update's record that follows from its trajectories or looks alone; `verify` recomputes it. */
export function learnedFrom(trajectories: readonly Trajectory[], looks: readonly GraphLook[] = []) {
  const scores = [
    ...trajectories.map(({ terminalScore }) => terminalScore),
    ...looks.map(({ score }) => score),
  ]
  return {
    /** Mean score of the final graphs on the query. */
    score: scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length),
    returns: trajectories.map(returnsToGo),
    actions: actionMix([
      ...trajectories.map(({ actions }) => actions.filter((action) => action.type === 'add')),
      ...looks.map(({ graph }) => graph.units),
    ]),
  }
}

function tokenCount({ calls, input, cachedInput, output }: TokenCount): TokenCount {
  return { calls, input, cachedInput, output }
}

/** Additions per role and realization, units per graph, and the share of possible edges. */
function actionMix(graphs: readonly (readonly Unit[])[]) {
  const roles: Record<string, { atomic: number; group: number }> = {}
  let edges = 0
  let possible = 0
  for (const units of graphs) {
    for (const [position, { role, realization, predecessors }] of units.entries()) {
      roles[role] ??= { atomic: 0, group: 0 }
      roles[role]![realization] += 1
      edges += predecessors.length
      possible += position
    }
  }
  return {
    roles,
    units: graphs.map((units) => units.length),
    /** Share of possible edges that were used. */
    edgeShare: possible === 0 ? 0 : edges / possible,
  }
}
