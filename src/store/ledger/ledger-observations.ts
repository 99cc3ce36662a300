import type { ObservationMemory } from '../../execution/remembered-tools.ts'
import type { EvaluationLedger } from './evaluation-ledger.ts'

/** The ledger as what `rememberTools` remembers with. One per ledger: identical work in flight is shared within it. */
export function ledgerObservations(
  ledger: Pick<EvaluationLedger, 'findObservation' | 'keepObservation'>,
): ObservationMemory {
  return {
    find: (digest) => ledger.findObservation(digest),
    keep: (digest, observation) => ledger.keepObservation(digest, observation),
  }
}
