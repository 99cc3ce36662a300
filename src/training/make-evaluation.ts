import type { Execution } from '../execution/execution.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Task } from '../library/task.ts'
import type { Evaluation, EvaluationKey } from '../store/ledger/evaluation.ts'
import type { TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import type { ToldCalls } from './call-path.ts'

/** An evaluation to make: a graph on a task that is not in the ledger. */
export interface EvaluationWork {
  readonly key: EvaluationKey
  readonly graph: AgentGraph
  readonly task: Task
  readonly reference: unknown
  /** Whether identical requests of different graphs share one reply. */
  readonly requestReuse: boolean
  /**
   * Reuse nothing, not even within the graph, because a policy is being evaluated. Replies are still stored, for a
   * process that takes over the evaluation.
   */
  readonly isFresh?: boolean
}

/** A finished evaluation. */
export interface MadeEvaluation extends TracedEvaluation {
  readonly evaluation: Evaluation
  /** Usage of its executions, including failed ones, which cost something too. */
  readonly executions: readonly Pick<Execution, 'usage' | 'reused' | 'cost'>[]
  readonly calls: ToldCalls
}

/**
 * Runs and scores a graph, in this process or elsewhere. An evaluation made elsewhere is already in the ledger and
 * has no trace here.
 */
export type MakeEvaluation = (work: EvaluationWork, signal: AbortSignal) => Promise<MadeEvaluation>
