import { existsSync, readFileSync, statSync } from 'node:fs'
import { noteSpent } from '../store/call-journal.ts'
import { readLines } from '../store/durable-file.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { RunFolder } from '../store/run-folder.ts'
import type { UpdateRecord } from './update-record.ts'

/**
 * Records the spending of a run made by an earlier version, which kept no journal, at the start of its journal: what
 * its last event says, plus what the ledger's replies show. What failed attempts used after that event is unknown.
 */
export async function carryOverSpending(folder: RunFolder, ledger: Pick<Ledger, 'spending'>): Promise<void> {
  if (existsSync(folder.callsFile) && statSync(folder.callsFile).size > 0) return
  const then = lastUpdate(folder)?.spent
  const answered = await ledger.spending()
  const most = (field: keyof typeof answered) => Math.max(then?.[field] ?? 0, answered[field])
  const calls = most('calls')
  const unknown = most('unknown') + inFlightBefore(folder, calls)
  if (calls === 0 && unknown === 0) return
  const isAllTold = then !== undefined && then.calls >= answered.calls
  noteSpent(folder.callsFile, {
    of: 'earlier version',
    sum: {
      calls,
      input: most('input'),
      cachedInput: most('cachedInput'),
      output: most('output'),
      unknown,
      // If unpriced, it gets priced when the journal is read.
      cost: isAllTold ? then.cost : 'unpriced',
      minutes: then?.minutes ?? 0,
    },
  })
}

export function lastUpdate({ eventsFile }: RunFolder): UpdateRecord | undefined {
  return readLines(eventsFile).at(-1) as UpdateRecord | undefined
}

/** Earlier versions wrote `calls.log` with a plus per call begun and a minus per call failed. */
function inFlightBefore({ earlierCallsFile }: RunFolder, answered: number): number {
  if (!existsSync(earlierCallsFile)) return 0
  const marks = readFileSync(earlierCallsFile, 'latin1')
  const count = (mark: string) => marks.split(mark).length - 1
  return Math.max(0, count('+') - count('-') - answered)
}
