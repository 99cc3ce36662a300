import { isDeepStrictEqual } from 'node:util'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { creditTrajectory, type Trajectory } from '../../learning/trajectory.ts'
import { rewardsOf } from '../../settings/training.ts'
import { readLines } from '../../store/durable-file.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { RunFolder, RunRecord } from '../../store/run-folder.ts'
import { splitOf, type TaskSet, taskVersion } from '../../tasks/task-set.ts'
import { looksIn, type TrajectoryRecord } from '../../training/update-record.ts'

/**
 * Checks that every update's trajectories are there, that their scores give the same credit again, and that each
 * score is in the ledger. Throws if not; returns the number of trajectories.
 */
export async function verifyCredit(
  folder: RunFolder,
  record: RunRecord,
  set: TaskSet,
  ledger: Pick<Ledger, 'find'> | undefined,
): Promise<number> {
  const lines = readLines(folder.trajectoriesFile) as TrajectoryRecord[]
  const gap = lines.findIndex(({ update }, index) => update !== index)
  // A kill right after an update was written leaves one line more than the last checkpoint.
  if (gap !== -1 || lines.length < (folder.checkpoints().at(-1) ?? 0))
    throw new Error(`the trajectories of update ${gap === -1 ? lines.length : gap} are missing`)
  const scoreOf = scoresIn(ledger, record, set)
  const rewards = rewardsOf(record.training)
  const assertKept = async (place: string, graph: AgentGraph, task: string, score: number) => {
    const kept = await scoreOf(graph, task)
    if (kept !== score)
      throw new Error(`${place} has score ${score} on '${task}', but the ledger has ${kept ?? 'none'}`)
  }
  for (const line of lines) {
    const { update, trajectories } = line
    for (const [index, { graph, task, score }] of looksIn(line).entries())
      await assertKept(`graph ${index} of update ${update}`, graph, task, score)
    for (const [index, stored] of trajectories.entries()) {
      const place = `trajectory ${index} of update ${update}`
      if (!isDeepStrictEqual(stored.settings, rewards))
        throw new Error(`${place} has other reward settings than the run`)
      const again = creditTrajectory(stored, rewards)
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(again)), stored))
        throw new Error(`the credit of ${place} is different when recomputed`)
      for (const { graph, task, score } of scoresOf(again)) await assertKept(place, graph, task, score)
    }
  }
  return lines.flatMap(({ trajectories, looks = [] }) => [...trajectories, ...looks]).length
}

/** Every graph of a trajectory with every task it was run on. */
function* scoresOf({ query, probes, transitions, terminalScore }: Trajectory) {
  const graphs = [AgentGraph.empty, ...transitions.map(({ graph }) => graph)]
  yield { graph: graphs.at(-1)!, task: query, score: terminalScore }
  for (const [position, { parentScores, childScores }] of transitions.entries())
    for (const [index, task] of probes.entries()) {
      yield { graph: graphs[position]!, task, score: parentScores[index]! }
      yield { graph: graphs[position + 1]!, task, score: childScores[index]! }
    }
}

function scoresIn(ledger: Pick<Ledger, 'find'> | undefined, record: RunRecord, set: TaskSet) {
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
