import { hash } from 'node:crypto'
import type { Execution } from '../../execution/execution.ts'
import type { Packet } from '../../execution/packet.ts'
import type { Trace, TracedNode } from '../../execution/trace/trace.ts'
import type { Score } from '../../library/score.ts'

/** The identity of an evaluation: any other value means another evaluation. */
export interface EvaluationKey {
  /** By `graphKey`. */
  readonly graph: string
  /** The task's id. */
  readonly task: string
  /** By `dataVersion`: the task's content and reference. */
  readonly dataVersion: string
  /** By `executorFingerprint`. */
  readonly executor: string
}

type Kept = Pick<Execution, 'status' | 'answer' | 'usage' | 'reused' | 'further' | 'cost' | 'durationMs'>

/** One graph run on one task and scored. The answer is stored so that it can be scored again. */
export interface Evaluation extends Kept, Omit<Score, 'status'> {
  /** How a program's tests ended: `passed`, `failed_tests`, `timeout` and so on. Only if the answer is a program. */
  readonly program?: string
  readonly failures: readonly Pick<Packet, 'node' | 'status' | 'reason'>[]
  /** The id of its trace in the ledger. */
  readonly execution: string
}

export function evaluationOf(execution: Execution, scored: Score): Evaluation {
  const { score, parse, measures, judge, status: program } = scored
  const { id, status, answer, failures, usage, reused, further, cost, durationMs } = execution
  return {
    score,
    parse,
    measures,
    judge,
    program,
    status,
    ...(answer === undefined ? {} : { answer }),
    failures: failures.map(({ node, status, reason }) => ({ node, status, reason })),
    usage,
    reused,
    ...(further && { further }),
    cost,
    durationMs,
    execution: id,
  }
}

/**
 * Whether the result is final. Network failures, overloaded servers, deadlines and cancellations are not results:
 * such an execution is never stored as an evaluation.
 */
export function isSettled({ status, nodes }: Pick<Trace, 'status' | 'nodes'>): boolean {
  return (status === 'answered' || status === 'unanswered') && nodes.every(isSettledNode)
}

function isSettledNode({ status, calls }: TracedNode): boolean {
  if (status !== 'model_failure') return status !== 'aborted'
  // A request rejected by a working endpoint would be rejected again.
  return calls.at(-1)?.failure === 'rejected'
}

/** One digest for all four parts, listed as JSON so that the text is unambiguous. */
export function evaluationDigest({ graph, task, dataVersion, executor }: EvaluationKey): string {
  const parts = [graph, task, dataVersion, executor]
  // A lone surrogate would come back from a file as another character.
  if (!parts.every((part) => part.isWellFormed()))
    throw new RangeError(`An evaluation key must be well-formed text: ${JSON.stringify(parts)}.`)
  return hash('sha256', `evaluation-1${JSON.stringify(parts)}`, 'hex')
}

/** Throws for what must never be stored, before anything is written. */
export function assertStorable(evaluation: Evaluation, trace: Trace): void {
  const { score, status, execution } = evaluation
  if (!(score >= 0 && score <= 1)) throw new RangeError(`A score is from 0 to 1, not ${score}.`)
  if (execution !== trace.execution || status !== trace.status)
    throw new RangeError(
      `The evaluation is of execution '${execution}' (${status}), the trace of '${trace.execution}' (${trace.status}).`,
    )
  if (!isSettled(trace))
    throw new RangeError(
      `Execution '${execution}' was cut short or met transport failures: no result to store.`,
    )
}
