import { existsSync } from 'node:fs'
import type { Ledger } from './ledger.ts'
import { LedgerError } from './ledger-error.ts'
import { SqliteLedger } from './sqlite.ts'

/**
 * Copies another ledger's evaluations with their traces. Replies and tool observations are left out, because the sum
 * of a ledger's replies is what its run paid for. Returns how many evaluations there are.
 */
export async function importEvaluations(from: string, into: Ledger): Promise<number> {
  if (!existsSync(from)) throw new LedgerError(`There is no ledger ${from}. Name the ledger.sqlite of a run.`)
  await using source = await SqliteLedger.open(from, { readOnly: true })
  let count = 0
  for await (const { key, evaluation } of source.entries()) {
    const trace = await source.findTrace(evaluation.execution)
    if (trace === undefined)
      throw new LedgerError(`The ledger ${from} lacks the trace of execution ${evaluation.execution}.`)
    await into.keep(key, evaluation, trace)
    count += 1
  }
  return count
}
