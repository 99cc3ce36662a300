import { rmSync } from 'node:fs'
import { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { assertLegalGraph, type ConstructionSpace, IllegalActionError } from '../graph/legality.ts'
import type { TrainingQuestions } from '../learning/training-questions.ts'
import type { Look } from '../learning/values/value-model.ts'
import { finalGraph } from '../learning/values/value-questions.ts'
import { changesBetween } from '../store/differing-settings.ts'
import { readLines, writeWhole } from '../store/durable-file.ts'
import type { EvaluationKey } from '../store/ledger/evaluation.ts'
import { RunError, RunFolder, type RunRecord } from '../store/run-folder.ts'
import { hasLedger, openRunLedger } from '../store/run-ledger.ts'
import { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf, taskVersion } from '../tasks/task-set.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { TrainOptions } from './train-options.ts'
import { graphScore } from './training-evaluator.ts'
import type { TrajectoryRecord } from './update-record.ts'

type TaskKey = Omit<EvaluationKey, 'graph'>

/** A line of `earlier-looks.jsonl`: a graph's result on a question in an earlier run, and its conditions. */
export interface EarlierLook extends TaskKey, Pick<Look, 'score' | 'tokens'> {
  /** The run that paid for it. */
  readonly run: string
  readonly graph: Pick<AgentGraph, 'units'>
}

/**
 * Evaluations of earlier runs that are valid for a new one: the same question, scored and run in the same way, with a
 * graph the new run could build. If several runs evaluated the same pair, the first one counts. Throws if a run
 * contributes nothing.
 */
export async function findEarlierLooks(
  { parts, record }: PreparedRun,
  { learnFrom = [], onEvent }: TrainOptions,
): Promise<EarlierLook[]> {
  if (learnFrom.length === 0) return []
  if (record.training.method !== 'values')
    throw new RunError(
      "Only a training by values learns from earlier runs; the paper's procedure learns from its own graphs alone. Choose --method values (`method` in the settings), or leave --learn-from (`learnFrom`) out.",
    )
  const { set } = parts
  const { restriction, maxUnits, maxDepth } = record.training
  const space = { roles: set.library.space, restriction, maxUnits, maxDepth }
  const { tasks, references } = splitOf(set, 'train')
  const executor = new TaskExecutor(parts)
  const keys = new Map<string, TaskKey>()
  for (const task of tasks) {
    const dataVersion = taskVersion(set, task, references.get(task.id))
    keys.set(task.id, { task: task.id, dataVersion, executor: executor.fingerprint(task) })
  }
  const looks = new Map<string, EarlierLook>()
  for (const path of learnFrom) {
    const run = new RunFolder(path)
    const earlier = run.readRecord()
    let fitting = 0
    for await (const look of looksIn(run, earlier.name, keys)) {
      const graph = AgentGraph.from(look.graph)
      if (!isLegal(graph, space)) continue
      fitting += 1
      const pair = `${graphKey(graph)} ${look.task}`
      if (!looks.has(pair)) looks.set(pair, look)
    }
    if (fitting === 0) throw nothingFits(run, earlier, record)
    onEvent?.({
      type: 'note',
      text: `${fitting} evaluations of run ${earlier.name} are reused.`,
    })
  }
  return [...looks.values()]
}

/** Looks of a run whose question, data and executor match `keys`, including those it took from runs before it. */
async function* looksIn(
  run: RunFolder,
  name: string,
  keys: ReadonlyMap<string, TaskKey>,
): AsyncGenerator<EarlierLook> {
  for (const look of readLines(run.earlierLooksFile) as EarlierLook[]) {
    const key = keys.get(look.task)
    if (look.dataVersion === key?.dataVersion && look.executor === key.executor) yield look
  }
  if (!hasLedger(run)) return
  await using ledger = await openRunLedger(run, { readOnly: true })
  // Trajectories hold the graphs, the ledger the conditions they were run under.
  for (const { trajectories } of readLines(run.trajectoriesFile) as TrajectoryRecord[])
    for (const trajectory of trajectories) {
      const key = keys.get(trajectory.query)
      if (key === undefined) continue
      const graph = finalGraph(trajectory)
      const evaluation = await ledger.find({ ...key, graph: graphKey(graph) })
      if (evaluation === undefined) continue
      const { score, usage } = graphScore(evaluation)
      yield { run: name, ...key, graph, score, tokens: usage.tokens }
    }
}

function isLegal(graph: AgentGraph, space: ConstructionSpace): boolean {
  try {
    assertLegalGraph(graph, space)
    return true
  } catch (error) {
    if (error instanceof IllegalActionError) return false
    throw error
  }
}

function nothingFits({ path }: RunFolder, earlier: RunRecord, now: RunRecord): RunError {
  const differences = changesBetween(conditionsOf(earlier), conditionsOf(now))
  const why =
    differences.length === 0
      ? 'It has evaluated no graph yet.\n'
      : `What differs:\n${differences.map((line) => `  ${line}\n`).join('')}`
  return new RunError(
    `Nothing can be learned from the run ${path}: none of its evaluations fits the new run. ${why}Begin with the same questions, model and settings, or leave the run out.`,
  )
}

/** Everything that decides whether an evaluation of one run is valid for another. */
function conditionsOf({ tasks, library, tools, model, executors, execution, training }: RunRecord) {
  const { name, metric, judge, splits } = tasks
  const { decoding, budgets } = execution
  const { restriction, maxUnits, maxDepth } = training
  return {
    tasks: { name, metric, judge, train: splits['train']?.version },
    library,
    tools: tools?.on,
    model,
    executors,
    execution: { decoding, budgets },
    training: { restriction, maxUnits, maxDepth },
  }
}

/**
 * Copies the looks into the run's folder, so that the earlier runs are no longer needed. Without any, removes a file
 * left by a killed start.
 */
export function keepEarlierLooks({ earlierLooksFile }: RunFolder, looks: readonly EarlierLook[]): void {
  if (looks.length === 0) rmSync(earlierLooksFile, { force: true })
  else writeWhole(earlierLooksFile, looks.map((look) => `${JSON.stringify(look)}\n`).join(''))
}

export function readEarlierLooks({ earlierLooksFile }: RunFolder, { queries }: TrainingQuestions): Look[] {
  const positions = new Map(queries.map(({ id }, position) => [id, position]))
  const lines = readLines(earlierLooksFile) as EarlierLook[]
  return lines.map(({ graph, task, score, tokens }) => ({
    graph: AgentGraph.from(graph),
    question: positions.get(task)!,
    score,
    tokens,
  }))
}
