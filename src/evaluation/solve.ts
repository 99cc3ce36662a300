import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import { openToolbox, type Toolbox } from '../execution/toolbox.ts'
import type { Tool } from '../execution/tools/tool.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { executionSettings } from '../settings/execution.ts'
import { assertToolsOfRun, sandboxOfRun } from '../store/run-tools.ts'
import { contractOfRun } from '../tasks/contract-for.ts'
import type { ExplainedConstruction, TrainedPolicy } from './trained-policy.ts'

/** Contract, tools and settings default to the run's. */
export interface SolveOptions
  extends Pick<
    ExecutionOptions,
    'id' | 'model' | 'models' | 'settings' | 'signal' | 'limit' | 'clock' | 'meter' | 'onEvent'
  > {
  readonly policy: TrainedPolicy
  /** The id defaults to the question. It affects the graph only if the run samples as in the paper. */
  readonly task: Partial<Task> & Pick<Task, 'question'>
  readonly contract?: AnswerContract
  /** Your own tools in addition to the built-in ones the run was trained with, or a complete toolbox. */
  readonly tools?: Iterable<Tool> | Toolbox
  readonly seed?: number
  /** Called with the construction before the graph runs. */
  readonly onConstruction?: (construction: ExplainedConstruction) => void
}

export interface Solved extends Execution {
  readonly graph: AgentGraph
}

/**
 * Answers one question by Procedure A2: the policy builds a graph for it, and the graph runs.
 *
 * @example
 * const { answer, graph, usage } = await solve({ policy, task: { question: 'Is the sky blue?' }, model })
 */
export async function solve(options: SolveOptions): Promise<Solved> {
  const { policy, seed, onConstruction, task: given, ...execution } = options
  const { folder, library, run } = policy
  const task: Task = { metadata: {}, ...given, id: given.id ?? given.question }
  const contract = options.contract ?? contractOfRun(folder, run, task)
  const { tools: own } = options
  const tools = own !== undefined && 'tools' in own ? own : openToolbox(await sandboxOfRun(run.tools), own)
  assertToolsOfRun(run, tools)
  const settings = options.settings ?? executionSettings.parse(run.execution)
  const construction = await policy.organisation({ seed }).constructionFor(task)
  onConstruction?.(construction)
  const { graph } = construction
  const chosen = { graph, task, library, profile: run.profile, contract, tools, settings }
  return { ...(await executeGraph({ ...execution, ...chosen })), graph }
}
