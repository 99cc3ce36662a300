import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { creditTrajectory, type Trajectory } from '../learning/trajectory.ts'
import { rewardsOf } from '../settings/training.ts'
import { readLines } from '../store/durable-file.ts'
import type { SqliteLedger } from '../store/ledger/sqlite.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { splitOf, type TaskSet, taskVersion } from '../tasks/task-set.ts'
import type { TrajectoryRecord } from '../training/update-record.ts'

/**
 * Checks that what every update learned from is there, that its credit comes out again from its scores, and that each of
 * these scores is one of the ledger's. Throws what is wrong; gives the number of trajectories.
 */
export async function verifyCredit(
  folder: RunFolder,
  record: RunRecord,
  set: TaskSet,
  ledger: Pick<SqliteLedger, 'find'> | undefined,
): Promise<number> {
  const lines = existsSync(folder.trajectoriesFile)
    ? (readLines(folder.trajectoriesFile) as TrajectoryRecord[])
    : []
  const gap = lines.findIndex(({ update }, index) => update !== index)
  // An update that was written down just before a kill is one more than the last checkpoint knows of.
  if (gap !== -1 || lines.length < (folder.checkpoints().at(-1) ?? 0))
    throw new Error(`those of update ${gap === -1 ? lines.length : gap} are missing`)
  const scoreOf = scoresIn(ledger, record, set)
  const rewards = rewardsOf(record.training)
  let count = 0
  for (const { update, trajectories } of lines) {
    for (const [index, stored] of trajectories.entries()) {
      if (!isDeepStrictEqual(stored.settings, rewards))
        throw new Error(`trajectory ${index} of update ${update} has other reward settings than the run`)
      const again = creditTrajectory(stored, rewards)
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(again)), stored))
        throw new Error(`the credit of trajectory ${index} of update ${update} comes out differently`)
      for (const { graph, task, score } of scoresOf(again)) {
        const kept = await scoreOf(graph, task)
        if (kept !== score)
          throw new Error(
            `trajectory ${index} of update ${update} has the score ${score} on '${task}', the ledger ${kept ?? 'none'}`,
          )
      }
      count += 1
    }
  }
  return count
}

/** Every graph of a trajectory on every task that it was run on. */
function* scoresOf({ query, probes, transitions, terminalScore }: Trajectory) {
  const last = transitions.at(-1)?.graph ?? AgentGraph.empty
  yield { graph: last, task: query, score: terminalScore }
  for (const [position, { graph, parentScores, childScores }] of transitions.entries()) {
    const parent = position === 0 ? AgentGraph.empty : transitions[position - 1]!.graph
    for (const [index, task] of probes.entries()) {
      yield { graph: parent, task, score: parentScores[index]! }
      yield { graph, task, score: childScores[index]! }
    }
  }
}

function scoresIn(ledger: Pick<SqliteLedger, 'find'> | undefined, record: RunRecord, set: TaskSet) {
  const { tasks, references } = splitOf(set, 'train')
  const byId = new Map(tasks.map((task) => [task.id, task]))
  return async (graph: AgentGraph, id: string): Promise<number | undefined> => {
    const task = byId.get(id)
    if (task === undefined) throw new Error(`there is no task '${id}' any more`)
    const evaluation = await ledger?.find({
      graph: graphKey(graph),
      task: id,
      dataVersion: taskVersion(set, task, references.get(id)),
      executor: record.executors[set.contractOf(task).name] ?? '',
    })
    return evaluation?.score
  }
}
