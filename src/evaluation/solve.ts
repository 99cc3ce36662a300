import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution, ExecutionOptions } from '../execution/execution.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import type { TrainedPolicy } from './trained-policy.ts'

export interface SolveOptions
  extends Pick<ExecutionOptions, 'model' | 'tools' | 'settings' | 'signal' | 'limit' | 'clock' | 'onEvent'> {
  readonly policy: TrainedPolicy
  /** Its id fixes, with the seed, the graph that is built for it; the question itself is taken where there is none. */
  readonly task: Partial<Task> & Pick<Task, 'question'>
  readonly contract: AnswerContract
  readonly seed?: number
  /** Hears of the graph before it is run. */
  readonly onGraph?: (graph: AgentGraph) => void
}

export interface Solved extends Execution {
  readonly graph: AgentGraph
}

/**
 * Answers one question by Procedure A2: the policy builds a graph for it, and the graph is run.
 *
 * @example
 * const { answer, graph, usage } = await solve({ policy, task: { question: 'Is the sky blue?' }, model, contract: booleanString })
 */
export async function solve(options: SolveOptions): Promise<Solved> {
  const { policy, contract, seed, onGraph, task: given, ...execution } = options
  const task: Task = { metadata: {}, ...given, id: given.id ?? given.question }
  const organisation = policy.organisation(seed === undefined ? {} : { seed })
  const graph = await organisation.graphFor(task)
  onGraph?.(graph)
  const { library, run } = policy
  const solved = await executeGraph({ ...execution, graph, task, library, profile: run.profile, contract })
  return { ...solved, graph }
}
