import { SingleFlight } from '../../execution/single-flight.ts'
import type { Trace } from '../../execution/trace/trace.ts'
import { type Evaluation, type EvaluationKey, evaluationDigest, isSettled } from './evaluation.ts'
import type { EvaluationLedger } from './evaluation-ledger.ts'

export interface Evaluated {
  readonly evaluation: Evaluation
  /** `shared`: somebody else's identical work at the same time brought it. */
  readonly origin: 'ledger' | 'made' | 'shared'
  /** False: transport failures, a deadline or a cancellation decided it. It was not stored; asking again tries again. */
  readonly settled: boolean
}

/** Runs a graph on a task and scores it. */
export type Evaluate = (signal: AbortSignal) => Promise<{ evaluation: Evaluation; trace: Trace }>

const flights = new WeakMap<EvaluationLedger, SingleFlight<Evaluated>>()

/**
 * Evaluates unless the ledger knows; identical evaluations at the same time are made once. Rejects with the signal's reason
 * when this asker is cancelled; the evaluation goes on while anybody else waits for it.
 */
export async function evaluateOnce(
  ledger: EvaluationLedger,
  key: EvaluationKey,
  evaluate: Evaluate,
  signal?: AbortSignal,
): Promise<Evaluated> {
  const inFlight = flights.get(ledger) ?? new SingleFlight<Evaluated>()
  flights.set(ledger, inFlight)
  const { value, led } = await inFlight.run(
    evaluationDigest(key),
    (everyoneLeft) => findOrEvaluate(ledger, key, evaluate, everyoneLeft),
    signal,
  )
  return led || value.origin === 'ledger' ? value : { ...value, origin: 'shared' }
}

async function findOrEvaluate(
  ledger: EvaluationLedger,
  key: EvaluationKey,
  evaluate: Evaluate,
  signal: AbortSignal,
): Promise<Evaluated> {
  const known = await ledger.find(key)
  if (known !== undefined) return { evaluation: known, origin: 'ledger', settled: true }
  const { evaluation, trace } = await evaluate(signal)
  if (isSettled(trace))
    return { evaluation: await ledger.keep(key, evaluation, trace), origin: 'made', settled: true }
  // No result, yet it has cost something.
  await ledger.keepTrace(trace)
  return { evaluation, origin: 'made', settled: false }
}
