import type { RunPrice } from '../models/prices.ts'
import { CallJournal } from '../store/call-journal.ts'
import type { Checkpoint } from '../store/checkpoint.ts'
import { LineFile } from '../store/durable-file.ts'
import { failPoint } from '../store/fail-point.ts'
import type { PostgresAddress } from '../store/postgres/address.ts'
import { evidenceOf } from '../store/run-evidence.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { openRunLedger } from '../store/run-ledger.ts'
import { carryOverSpending, lastUpdate } from './carry-over-spending.ts'
import type { TrajectoryRecord, UpdateRecord } from './update-record.ts'

/**
 * Opens the files a run writes: ledger, journal of calls, events, trajectories and checkpoints. A run killed at any
 * moment can continue from them to the same weights. Lines about updates from `done` on are dropped.
 */
export async function openRunFiles(
  folder: RunFolder,
  done: number,
  price: RunPrice | undefined,
  { kept, address }: { readonly kept?: ReadonlySet<number>; readonly address?: PostgresAddress } = {},
) {
  await using opening = new AsyncDisposableStack()
  const ledger = opening.use(await openRunLedger(folder, { address }))
  await carryOverSpending(folder, ledger)
  const updated = lastUpdate(folder)?.spent.calls ?? 0
  const journal = opening.use(new CallJournal(folder.callsFile, price))
  const isStale = (line: unknown) => ((line as Partial<UpdateRecord>).update ?? -1) >= done
  const events = opening.use(new LineFile(folder.eventsFile, isStale))
  const trajectories = opening.use(new LineFile(folder.trajectoriesFile, isStale))
  const lostCalls = journal.take({ replies: (await ledger.spending()).calls, updated })
  journal.sync()

  const evidence = evidenceOf(folder, [events, trajectories, journal])
  const writeCheckpoint = (state: Checkpoint) =>
    folder.writeCheckpoint({ ...state, restsOn: evidence() }, kept)
  let written: Promise<void> = Promise.resolve()
  const opened = opening.move()
  return {
    ledger,
    journal,
    /** Upper bound on calls of the previous process whose replies are lost. */
    lostCalls,
    writeCheckpoint,
    /**
     * Writes an update's lines, then its checkpoint in the background while the next update makes its calls. A run
     * killed in between repeats the update with the ledger's replies.
     */
    async writeUpdate(line: UpdateRecord, made: TrajectoryRecord, state: () => Checkpoint) {
      await written
      failPoint('before:events')
      trajectories.append(made)
      events.append(line)
      journal.sync()
      failPoint('after:events')
      written = writeCheckpoint(state()).then(() => failPoint('after:checkpoint'))
      // Errors surface at the next `await written`.
      written.catch(() => {})
    },
    /** Resolves once the last checkpoint is on disk. */
    written: () => written,
    async [Symbol.asyncDispose]() {
      await written.catch(() => {})
      await opened.disposeAsync()
    },
  }
}
