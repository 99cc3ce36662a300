import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { executionSettings } from '../settings/execution.ts'
import { trainingSettings } from '../settings/training.ts'
import { type DifferingSetting, differingSettings } from '../store/differing-settings.ts'
import { readLines } from '../store/durable-file.ts'
import { RunFolder, type RunRecord } from '../store/run-folder.ts'
import {
  looksIn,
  type TokenCount,
  type TrajectoryRecord,
  type UpdateRecord,
} from '../training/update-record.ts'
import { meanOf } from './statistics.ts'

export type RunOverview = ReturnType<typeof runOverview>

/** A run as it is on disk now. Safe to read while a trainer is writing. */
export function runOverview(folder: RunFolder) {
  const record = folder.readRecord()
  const updates = readLines(folder.eventsFile) as UpdateRecord[]
  const done = folder.checkpoints().at(-1) ?? 0
  return {
    record,
    /** Updates done, of `record.updates`. */
    done,
    isFinished: done >= record.updates,
    updates,
    departures: departuresOf(record),
    /** Number of graph evaluations the training had to pay for. */
    evaluations: updates.reduce((sum, { evaluations: { asked, made } }) => {
      // Value learning never asks for a pair twice; what a resumed update found in the ledger was paid for before.
      return sum + (record.training.method === 'values' ? asked : made)
    }, 0),
    made: sumTokens(updates.map(({ made }) => made)),
    reused: sumTokens(updates.map(({ reused }) => reused)),
  }
}

/** Training and execution settings that differ from the paper's, the paper's value first. */
export function departuresOf({ training, execution }: RunRecord): DifferingSetting[] {
  const { prices: _, ...paperExecution } = JSON.parse(JSON.stringify(executionSettings.parse({})))
  const { prices: __, ...ownExecution } = execution
  const paper = { ...trainingSettings.parse({}), execution: paperExecution }
  return differingSettings([paper, { ...training, execution: ownExecution }])
}

export function sumTokens(counts: readonly TokenCount[]): TokenCount {
  const total = { calls: 0, input: 0, cachedInput: 0, output: 0 }
  for (const count of counts)
    for (const field of Object.keys(total) as (keyof TokenCount)[]) total[field] += count[field]
  return total
}

/**
 * Whether an update ran graphs. One that only learned from earlier evaluations has no score, even though its record
 * says 0.
 */
export function ranGraphs({ actions }: Pick<UpdateRecord, 'actions'>): boolean {
  return actions.units.length > 0
}

/**
 * First and last scores of questions that came up more than once. Updates differ in their questions, so comparing the
 * means of early and late updates would be misleading.
 */
export function sameQuestions(updates: readonly Pick<UpdateRecord, 'query' | 'score'>[]) {
  const single = updates.filter(({ query }) => query !== undefined)
  const again = [...Map.groupBy(single, ({ query }) => query).values()].filter(({ length }) => length > 1)
  if (again.length === 0) return undefined
  return {
    questions: again.length,
    first: meanOf(again.map((asked) => asked[0]!.score)),
    last: meanOf(again.map((asked) => asked.at(-1)!.score)),
  }
}

/** A run of a folder of runs, or why it cannot be read: a damaged run must not hide the others. */
export type ListedRun =
  | { readonly name: string; readonly folder: RunFolder; readonly overview: RunOverview }
  | { readonly name: string; readonly folder: RunFolder; readonly problem: string }

/** Newest first; unreadable runs last. */
export function listRuns(runs: string): ListedRun[] {
  if (!existsSync(runs)) return []
  return readdirSync(runs)
    .map((name) => ({ name, folder: new RunFolder(join(runs, name)) }))
    .filter(({ folder }) => folder.exists)
    .map(({ name, folder }): ListedRun => {
      try {
        return { name, folder, overview: runOverview(folder) }
      } catch (error) {
        return { name, folder, problem: (error as Error).message }
      }
    })
    .toSorted((a, b) => begun(b).localeCompare(begun(a)) || a.name.localeCompare(b.name))
}

function begun(run: ListedRun): string {
  return 'overview' in run ? run.overview.record.createdAt : ''
}

/** Updates that count as the beginning or the end of a training: a fifth each. */
export function fifthOf(updates: number): number {
  return Math.max(1, Math.round(updates / 5))
}

/** A final graph of a training, and how it did on the questions it was built for. */
export type FinalGraph = ReturnType<typeof graphsOf>[number]

/** The final graphs of the last updates, most common first, then newest first. For value learning: the chosen graphs. */
export function finalGraphs({ trajectoriesFile }: RunFolder, lastUpdates: number): FinalGraph[] {
  const updates = readLines(trajectoriesFile) as TrajectoryRecord[]
  const { chosen } = updates.at(-1) ?? {}
  return chosen === undefined ? graphsOf(updates.slice(-lastUpdates)) : chosenGraphs(chosen, endsOf(updates))
}

/** The graphs that these updates ran, most common first. */
export function graphsOf(updates: readonly TrajectoryRecord[]) {
  return [...Map.groupBy(endsOf(updates).toReversed(), ({ key }) => key)]
    .map(([key, same]) => ({
      graph: same[0]!.graph,
      key,
      count: same.length,
      score: meanOf(same.map(({ score }) => score)),
    }))
    .toSorted((a, b) => b.count - a.count)
}

function endsOf(updates: readonly TrajectoryRecord[]) {
  return updates
    .flatMap((update) => [
      ...looksIn(update).map(({ graph, task: query, score }) => ({ graph, query, score })),
      ...update.trajectories.map(({ query, transitions, terminalScore: score }) => {
        return { graph: AgentGraph.of(transitions.at(-1)?.graph.units ?? []), query, score }
      }),
    ])
    .map((end) => ({ ...end, key: graphKey(end.graph) }))
}

/** The score of each chosen graph on the questions it was chosen for and run on; NaN if there are none. */
function chosenGraphs(
  chosen: NonNullable<TrajectoryRecord['chosen']>,
  ends: ReturnType<typeof endsOf>,
): FinalGraph[] {
  const scores = new Map(ends.map(({ key, query, score }) => [`${key} ${query}`, score]))
  return chosen
    .map(({ graph: { units }, tasks }) => {
      const graph = AgentGraph.of(units)
      const key = graphKey(graph)
      const own = tasks.flatMap((task) => scores.get(`${key} ${task}`) ?? [])
      return { graph, key, count: tasks.length, score: meanOf(own) }
    })
    .toSorted((a, b) => b.count - a.count)
}

/** How often each role and realization was placed in these updates. `sizes` counts graphs by number of units. */
export function placedUnits(updates: readonly UpdateRecord[]) {
  const roles = new Map<string, number>()
  const sizes = new Map<number, number>()
  let [atomic, group] = [0, 0]
  for (const { actions } of updates) {
    for (const [role, placed] of Object.entries(actions.roles)) {
      roles.set(role, (roles.get(role) ?? 0) + placed.atomic + placed.group)
      atomic += placed.atomic
      group += placed.group
    }
    for (const units of actions.units) sizes.set(units, (sizes.get(units) ?? 0) + 1)
  }
  return { roles, atomic, group, sizes }
}
