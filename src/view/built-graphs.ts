import type { KeptEvaluation } from '../evaluation/compare-evaluations.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { fifthOf, graphsOf } from '../evaluation/run-overview.ts'
import { meanOf } from '../evaluation/statistics.ts'
import type { Unit } from '../graph/agent-graph.ts'
import { tokensIn } from '../models/usage.ts'
import type { TrajectoryRecord } from '../training/update-record.ts'
import type { FollowedRun } from './followed-run.ts'
import { lineEnds } from './line-ends.ts'

export interface BuiltGraph {
  readonly key: string
  readonly units: readonly Unit[]
  /** Number of questions it was built for, or of times in training. */
  readonly count: number
  readonly score: number
  /** Mean per question; absent for graphs of the training. */
  readonly tokens?: number
}

export interface GraphsOfStage {
  readonly title: string
  /** The most common ones. */
  readonly graphs: readonly BuiltGraph[]
  /** How many different graphs there are. */
  readonly different: number
  readonly total: number
  readonly score: number
  readonly tokens?: number
}

export interface BuiltGraphs {
  /** An evaluation is preferred: it has the same held-out questions before and after. */
  readonly source: 'evaluation' | 'training' | 'none'
  readonly stages: readonly GraphsOfStage[]
}

const shown = 8

/** The graphs that the policy builds, before training and after. */
export function builtGraphs(run: FollowedRun): BuiltGraphs {
  const { evaluations, updates } = run
  const of = (name: string) => evaluations.findLast(({ header }) => header.organisation === name)
  const [untrained, trained] = [of('untrained'), of('trained')]
  if (untrained !== undefined && trained !== undefined)
    return {
      source: 'evaluation',
      stages: [evaluatedStage('Before training', untrained), evaluatedStage('After training', trained)],
    }
  if (updates.length === 0) return { source: 'none', stages: [] }
  const { first, last } = lineEnds<TrajectoryRecord>(run.folder.trajectoriesFile, fifthOf(updates.length))
  return {
    source: 'training',
    stages: [
      trainedStage(`The first ${first.length} updates`, first),
      trainedStage(`The last ${last.length} updates`, last),
    ],
  }
}

function evaluatedStage(title: string, { report }: KeptEvaluation): GraphsOfStage {
  const { records, n, score, tokens } = report
  const graphs = commonGraphs(records)
  return {
    title,
    graphs: graphs.slice(0, shown),
    different: graphs.length,
    total: n,
    score: score.mean,
    tokens: tokens.total,
  }
}

/** The graphs of records, the most common first. */
export function commonGraphs(records: readonly QuestionRecord[]): BuiltGraph[] {
  return [...Map.groupBy(records, ({ graphKey }) => graphKey)]
    .map(([key, same]) => ({
      key,
      units: same[0]!.graph.units,
      count: same.length,
      score: meanOf(same.map(({ score }) => score)),
      tokens: meanOf(same.map(({ usage }) => tokensIn(usage))),
    }))
    .toSorted((a, b) => b.count - a.count)
}

function trainedStage(title: string, records: readonly TrajectoryRecord[]): GraphsOfStage {
  const graphs = graphsOf(records)
  const scores = records.flatMap(({ trajectories, looks = [] }) => [
    ...trajectories.map(({ terminalScore }) => terminalScore),
    ...looks.map(({ score }) => score),
  ])
  return {
    title,
    graphs: graphs
      .slice(0, shown)
      .map(({ graph, key, count, score }) => ({ key, units: graph.units, count, score })),
    different: graphs.length,
    total: scores.length,
    score: meanOf(scores),
  }
}
