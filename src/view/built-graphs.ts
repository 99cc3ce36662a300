import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import type { KeptEvaluation } from '../evaluation/compare-evaluations.ts'
import type { QuestionRecord } from '../evaluation/organisation-report.ts'
import { fifthOf, graphsOf } from '../evaluation/run-overview.ts'
import { meanOf } from '../evaluation/statistics.ts'
import type { Unit } from '../graph/agent-graph.ts'
import type { TrajectoryRecord } from '../training/update-record.ts'
import { type FollowedRun, tokensIn } from './followed-run.ts'

export interface BuiltGraph {
  readonly key: string
  readonly units: readonly Unit[]
  /** How many of the questions, or of the training's graphs, it was built for. */
  readonly count: number
  readonly score: number
  /** Mean per question; only where questions were evaluated. */
  readonly tokens?: number
}

export interface GraphsOfStage {
  readonly title: string
  /** Of the most common graphs. */
  readonly graphs: readonly BuiltGraph[]
  /** Different graphs there are. */
  readonly different: number
  readonly total: number
  readonly score: number
  readonly tokens?: number
}

export interface BuiltGraphs {
  /** Held-out questions tell more: the same ones before and after. */
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
  const fifth = fifthOf(updates.length)
  const { first, last } = lineEnds(run.folder.trajectoriesFile, fifth)
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

/** A long training has gigabytes of trajectories: its page reads this much of either end. */
const mostBytes = 16 * 1024 * 1024

/** At most this many records from the start of a line file and from its end. */
function lineEnds(path: string, most: number): { first: TrajectoryRecord[]; last: TrajectoryRecord[] } {
  if (!existsSync(path)) return { first: [], last: [] }
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const length = Math.min(size, mostBytes)
    const read = (from: number) => {
      const bytes = Buffer.alloc(length)
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, from)).split('\n')
    }
    const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as TrajectoryRecord)
    const head = read(0).slice(0, -1)
    // The first line of the end may be cut.
    const tail = length === size ? head : read(size - length).slice(1, -1)
    return { first: parsed(head.slice(0, most)), last: parsed(tail.slice(-most)) }
  } finally {
    closeSync(file)
  }
}
