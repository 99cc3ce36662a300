import type { GraphJson } from '../graph/agent-graph.ts'
import type { ModelIdentity } from '../models/chat-model.ts'
import { type EvaluationKey, evaluationDigest } from '../store/ledger/evaluation.ts'
import type { MadeEvaluation } from '../training/make-evaluation.ts'

/** A graph on a task, as it stands in the queue. The assignment says what it is evaluated with. */
export interface EvaluationJob {
  /** The name of the shared ledger. */
  readonly ledger: string
  /** The account that its calls are counted on. */
  readonly account: string
  readonly split: string
  readonly task: string
  readonly graph: GraphJson
  readonly key: EvaluationKey
  readonly requestReuse: boolean
  readonly isFresh?: boolean
  /** Who waits for it. */
  readonly submission: string
}

/** What a worker reports of an evaluation besides the ledger's row. */
export type ToldEvaluation = Pick<MadeEvaluation, 'executions' | 'calls'>

/** A failure that ends a run, wherever it happened. */
export interface ToldProblem {
  readonly message: string
  readonly exitCode: number
}

/** One evaluation in one ledger. */
export function resultName(ledger: string, key: EvaluationKey): string {
  return `${ledger} ${evaluationDigest(key)}`
}

/** Everybody who calls the same model shares its rate limits. */
export function limiterOf({ provider, model }: Pick<ModelIdentity, 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

/** The queue's name for the jobs of an assignment. */
export function taskName(assignment: string): string {
  return `magic ${assignment.slice(0, 32)}`
}
