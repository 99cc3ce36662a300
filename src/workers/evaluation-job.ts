import type { GraphJson } from '../graph/agent-graph.ts'
import type { ModelIdentity } from '../models/chat-model.ts'
import { type EvaluationKey, evaluationDigest } from '../store/ledger/evaluation.ts'
import type { MadeEvaluation } from '../training/make-evaluation.ts'

/** A queued evaluation of a graph on a task. The assignment says what it is evaluated with. */
export interface EvaluationJob {
  /** Name of the shared ledger. */
  readonly ledger: string
  /** Account charged for its calls. */
  readonly account: string
  readonly split: string
  readonly task: string
  readonly graph: GraphJson
  readonly key: EvaluationKey
  readonly requestReuse: boolean
  readonly isFresh?: boolean
  /** The submission that waits for it. */
  readonly submission: string
}

/** What a worker reports about an evaluation, in addition to the row in the ledger. */
export type ToldEvaluation = Pick<MadeEvaluation, 'executions' | 'calls'>

/** A failure that stops the run. */
export interface ToldProblem {
  readonly message: string
  readonly exitCode: number
}

/** Identifies an evaluation within a ledger. */
export function resultName(ledger: string, key: EvaluationKey): string {
  return `${ledger} ${evaluationDigest(key)}`
}

/** All callers of a model share its rate limits. */
export function limiterOf({ provider, model }: Pick<ModelIdentity, 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

/** The queue's name for the jobs of an assignment. */
export function taskName(assignment: string): string {
  return `magic ${assignment.slice(0, 32)}`
}
