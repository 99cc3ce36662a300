import type { Execution } from '../execution/execution.ts'
import type { Memory } from '../execution/once.ts'
import { rememberTools } from '../execution/remembered-tools.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Task } from '../library/task.ts'
import type { Call } from '../models/retry.ts'
import { usageOfCall } from '../models/usage.ts'
import {
  type Evaluation,
  type EvaluationKey,
  evaluationDigest,
  isSettled,
} from '../store/ledger/evaluation.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { LedgerMemory, TracedEvaluation } from '../store/ledger/ledger-memory.ts'
import { type ExecutorParts, TaskExecutor } from '../tasks/task-executor.ts'
import { CallPaths, type ToldCalls } from './call-path.ts'
import { evaluateGraph } from './evaluate-graph.ts'

/** A graph on a task that the ledger does not know. */
export interface EvaluationWork {
  readonly key: EvaluationKey
  readonly graph: AgentGraph
  readonly task: Task
  readonly reference: unknown
  /** Whether identical requests of different graphs are one. */
  readonly requestReuse: boolean
  /**
   * Nothing is used again, not even within the graph: it is a policy that is evaluated. Answers are kept all the same, for
   * whoever takes the evaluation over.
   */
  readonly isFresh?: boolean
}

/** An evaluation as it was made. */
export interface MadeEvaluation extends TracedEvaluation {
  readonly evaluation: Evaluation
  /** What its executions took: those that came to nothing have cost something too. */
  readonly executions: readonly Pick<Execution, 'usage' | 'reused' | 'cost'>[]
  readonly calls: ToldCalls
}

/** Runs and scores a graph: in this process, or elsewhere. One made elsewhere is in the ledger and has no trace here. */
export type MakeEvaluation = (work: EvaluationWork, signal: AbortSignal) => Promise<MadeEvaluation>

/** Makes evaluations in this process. Answers and what tools saw are kept in the ledger as soon as they are there. */
export function evaluationsHere(
  parts: ExecutorParts,
  memory: LedgerMemory,
  ledger: Pick<Ledger, 'keepTrace'>,
): MakeEvaluation {
  // A resumed run must see what its tools saw, and no program is run twice.
  const executor = new TaskExecutor({
    ...parts,
    tools: rememberTools(parts.tools, memory.observations),
    replies: memory.replies,
  })
  const freshExecutor = new TaskExecutor(parts)
  return async ({ key, graph, task, reference, requestReuse, isFresh = false }, signal) => {
    const scope = requestReuse ? '' : `${evaluationDigest(key)}.`
    const paths = new CallPaths()
    const executions: MadeEvaluation['executions'][number][] = []
    const replies: Memory<Call> = {
      async once(digest, make, until) {
        const found = await memory.replies.once(scope + digest, make, until)
        const { reply } = found.value
        if (found.origin === 'made' && reply.ok) paths.made(scope + digest, reply.durationMs)
        return found
      },
    }
    const onExecution = async ({ usage, reused, cost, trace }: Execution) => {
      executions.push({ usage, reused, cost })
      // No result, yet it has cost something.
      if (!isSettled(trace)) await ledger.keepTrace(trace)
    }
    const given = { signal, onEvent: paths.listener(scope), onExecution }
    const made = isFresh
      ? await evaluateGraph(freshExecutor, graph, task, reference, { ...given, replies: eachOnce(replies) })
      : await evaluateGraph(executor, graph, task, reference, { ...given, replies })
    return { ...made, executions, calls: paths.record }
  }
}

/** Every request has an answer of its own, also if it is repeated. One that was kept counts as made: it was, for this graph. */
function eachOnce(replies: Memory<Call>): Memory<Call> {
  const times = new Map<string, number>()
  return {
    async once(digest, make, signal) {
      const time = times.get(digest) ?? 0
      times.set(digest, time + 1)
      const found = await replies.once(`${time}.${digest}`, make, signal)
      if (found.origin !== 'kept') return found
      const { reply } = found.value
      const value = { reply, attempts: [{ reply, startedAt: Date.now() }], usage: usageOfCall([reply]) }
      return { ...found, origin: 'made', value }
    },
  }
}
