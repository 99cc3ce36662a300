import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { executionSettings } from '../settings/execution.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import { recordedContract } from '../tasks/contract-for.ts'
import type { PolicyConstruction, TrainedPolicy } from './trained-policy.ts'

/** Contract, tools and settings are the run's where they are not given. */
export interface SolveOptions
  extends Pick<
    ExecutionOptions,
    'id' | 'model' | 'tools' | 'settings' | 'signal' | 'limit' | 'clock' | 'meter' | 'onEvent'
  > {
  readonly policy: TrainedPolicy
  /** Without an id it goes by its question. The id matters to the graph only where the run samples as in the paper. */
  readonly task: Partial<Task> & Pick<Task, 'question'>
  readonly contract?: AnswerContract
  readonly seed?: number
  /** Called with the construction before the graph is run. */
  readonly onConstruction?: (construction: PolicyConstruction) => void
}

export interface Solved extends Execution {
  readonly graph: AgentGraph
}

/**
 * Answers one question by Procedure A2: the policy builds a graph for it, and the graph is run.
 *
 * @example
 * const { answer, graph, usage } = await solve({ policy, task: { question: 'Is the sky blue?' }, model })
 */
export async function solve(options: SolveOptions): Promise<Solved> {
  const { policy, seed, onConstruction, task: given, ...execution } = options
  const { library, run } = policy
  const task: Task = { metadata: {}, ...given, id: given.id ?? given.question }
  const contract = options.contract ?? recordedContract(Object.keys(run.executors), task)
  const tools = options.tools ?? openToolbox(await sandboxOfRun(run.tools))
  const settings = options.settings ?? executionSettings.parse(run.execution)
  const construction = await policy.organisation({ seed }).constructionFor(task)
  onConstruction?.(construction)
  const { graph } = construction
  const chosen = { graph, task, library, profile: run.profile, contract, tools, settings }
  return { ...(await executeGraph({ ...execution, ...chosen })), graph }
}
