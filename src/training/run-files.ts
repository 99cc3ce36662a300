import type { Trajectory } from '../learning/trajectory.ts'
import type { Price } from '../models/prices.ts'
import { CallJournal } from '../store/call-journal.ts'
import type { Checkpoint } from '../store/checkpoint.ts'
import { LineFile } from '../store/durable-file.ts'
import { failPoint } from '../store/fail-point.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { evidenceOf } from '../store/run-evidence.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { carryOverSpending, lastUpdate } from './carry-over-spending.ts'
import type { UpdateRecord } from './update-record.ts'

/**
 * What a run writes down as it goes: ledger, journal of calls, events, trajectories and checkpoints. Whoever is killed at any
 * moment finds enough in them to go on to the same weights.
 */
export class RunFiles implements AsyncDisposable {
  readonly ledger: SqliteLedger
  readonly journal: CallJournal
  /** Calls of the process before whose answers are lost, at most. */
  readonly lostCalls: number
  readonly #folder: RunFolder
  readonly #events: LineFile
  readonly #trajectories: LineFile
  readonly #evidence: ReturnType<typeof evidenceOf>
  readonly #opened: AsyncDisposableStack
  #written: Promise<void> = Promise.resolve()

  private constructor(
    folder: RunFolder,
    opened: AsyncDisposableStack,
    files: { ledger: SqliteLedger; journal: CallJournal; events: LineFile; trajectories: LineFile },
    lostCalls: number,
  ) {
    const { ledger, journal, events, trajectories } = files
    this.ledger = ledger
    this.journal = journal
    this.lostCalls = lostCalls
    this.#folder = folder
    this.#events = events
    this.#trajectories = trajectories
    this.#evidence = evidenceOf(folder, [events, trajectories, journal])
    this.#opened = opened
  }

  /** Opens the files of a run that goes on after `done` updates. What they tell of later ones is dropped. */
  static async open(folder: RunFolder, done: number, price: Price | undefined): Promise<RunFiles> {
    await using opened = new AsyncDisposableStack()
    const ledger = await SqliteLedger.open(folder.ledgerFile)
    opened.defer(() => ledger.close())
    await carryOverSpending(folder, ledger)
    const updated = lastUpdate(folder)?.spent.calls ?? 0
    const journal = new CallJournal(folder.callsFile, price)
    opened.defer(() => journal.close())
    const isStale = (line: unknown) => ((line as Partial<UpdateRecord>).update ?? -1) >= done
    const events = new LineFile(folder.eventsFile, isStale)
    opened.defer(() => events.close())
    const trajectories = new LineFile(folder.trajectoriesFile, isStale)
    opened.defer(() => trajectories.close())
    const lostCalls = journal.take({ replies: (await ledger.spending()).calls, updated })
    journal.sync()
    return new RunFiles(folder, opened.move(), { ledger, journal, events, trajectories }, lostCalls)
  }

  writeCheckpoint(state: Checkpoint): Promise<void> {
    return this.#folder.writeCheckpoint({ ...state, restsOn: this.#evidence() })
  }

  /**
   * Writes an update down. Its checkpoint is written while the next update's calls are under way: whoever is killed meanwhile
   * makes that update again, with the ledger's answers.
   */
  async writeUpdate(
    line: UpdateRecord,
    trajectories: readonly Trajectory[],
    state: () => Checkpoint,
  ): Promise<void> {
    await this.#written
    failPoint('before:events')
    this.#trajectories.append({ update: line.update, trajectories })
    this.#events.append(line)
    this.journal.sync()
    failPoint('after:events')
    this.#written = this.writeCheckpoint(state()).then(() => failPoint('after:checkpoint'))
    // Errors surface at the next `await this.#written`.
    this.#written.catch(() => {})
  }

  /** Resolves once the last checkpoint is on the disk. */
  written(): Promise<void> {
    return this.#written
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written.catch(() => {})
    await this.#opened.disposeAsync()
  }
}
