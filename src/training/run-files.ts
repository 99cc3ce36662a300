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
 * Opens what a run writes down as it goes: ledger, journal of calls, events, trajectories and checkpoints. A run that is
 * killed at any moment finds enough in them to go on to the same weights. What the files tell of updates after the first
 * `done` is dropped.
 */
export async function openRunFiles(
  folder: RunFolder,
  done: number,
  price: RunPrice | undefined,
  { kept, address }: { readonly kept?: ReadonlySet<number>; readonly address?: PostgresAddress } = {},
) {
  await using opening = new AsyncDisposableStack()
  const ledger = await openRunLedger(folder, { address })
  opening.defer(() => ledger.close())
  await carryOverSpending(folder, ledger)
  const updated = lastUpdate(folder)?.spent.calls ?? 0
  const journal = new CallJournal(folder.callsFile, price)
  opening.defer(() => journal.close())
  const isStale = (line: unknown) => ((line as Partial<UpdateRecord>).update ?? -1) >= done
  const events = new LineFile(folder.eventsFile, isStale)
  opening.defer(() => events.close())
  const trajectories = new LineFile(folder.trajectoriesFile, isStale)
  opening.defer(() => trajectories.close())
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
    /** Calls of the process before whose answers are lost, at most. */
    lostCalls,
    writeCheckpoint,
    /**
     * Writes an update down. Its checkpoint is written while the next update's calls are under way: a run that is killed
     * meanwhile makes that update again, with the ledger's answers.
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
    /** Resolves once the last checkpoint is on the disk. */
    written: () => written,
    async [Symbol.asyncDispose]() {
      await written.catch(() => {})
      await opened.disposeAsync()
    },
  }
}
