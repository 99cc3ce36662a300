import { hash } from 'node:crypto'
import type { Execution } from '../../execution/execution.ts'
import type { Packet } from '../../execution/packet.ts'
import type { Trace, TracedNode } from '../../execution/trace/trace.ts'
import type { Score } from '../../library/score.ts'

/** What decides an evaluation: another value in any of these is another evaluation. */
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

/** One graph run on one task, and scored. Its answer is kept so that it can be scored again. */
export interface Evaluation extends Kept, Omit<Score, 'status'> {
  /** How the tests of a program ended: `passed`, `failed_tests`, `timeout` and so on. Only for answers that are programs. */
  readonly program?: string
  readonly failures: readonly Pick<Packet, 'node' | 'status' | 'reason'>[]
  /** The id under which the ledger has its trace. */
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
 * Whether running it again could only repeat it. What a network, an overloaded server, a deadline or a cancellation did is
 * no result: such an execution may be looked at, but it is never stored as an evaluation.
 */
export function isSettled({ status, nodes }: Pick<Trace, 'status' | 'nodes'>): boolean {
  return (status === 'answered' || status === 'unanswered') && nodes.every(isSettledNode)
}

function isSettledNode({ status, calls }: TracedNode): boolean {
  if (status !== 'model_failure') return status !== 'aborted'
  // A request that a living endpoint rejects for what it says is rejected again.
  return calls.at(-1)?.failure === 'rejected'
}

/** One name for all four parts. They are listed as JSON, so that no two lists have the same text. */
export function evaluationDigest({ graph, task, dataVersion, executor }: EvaluationKey): string {
  const parts = [graph, task, dataVersion, executor]
  // Half a surrogate pair would come back from a file as another character.
  if (!parts.every((part) => part.isWellFormed()))
    throw new RangeError(`An evaluation key must be well-formed text: ${JSON.stringify(parts)}.`)
  return hash('sha256', `evaluation-1${JSON.stringify(parts)}`, 'hex')
}

/** What must never be stored is a mistake in code, found before anything is written. */
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
