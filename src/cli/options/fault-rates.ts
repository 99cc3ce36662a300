import { FaultRateError, type FaultRates, parseFaultRates } from '../../simulator/server/faults.ts'
import { UsageError } from '../problem.ts'

export function readFaultRates(texts: readonly string[]): FaultRates {
  try {
    return parseFaultRates(texts)
  } catch (error) {
    if (error instanceof FaultRateError) throw new UsageError(error.message)
    throw error
  }
}
