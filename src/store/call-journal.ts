import type { FailureKind } from '../models/failure.ts'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { TokenUsage } from '../models/usage.ts'
import type { Spent } from './budget.ts'
import { type FileDigest, LineFile, readLines } from './durable-file.ts'

/** How an attempt to call the model ended. It reported what it used, or may have used up to `atMost`, or used nothing. */
export interface EndedAttempt {
  /** `lost`: its process was killed meanwhile. */
  readonly kind: 'answered' | 'lost' | FailureKind
  readonly used?: TokenUsage
  readonly atMost?: TokenUsage
  /** Of what it used, or of the most that it can have used. */
  readonly cost: Cost
  /** Nobody waits for its answer to be kept. */
  readonly control?: true
  /** How long the run had worked by then, over all its resumes. */
  readonly minutes: number
}

/** Calls that were not noted one by one: the self-check's, or those that a run made under an earlier version. */
export interface SpentSum {
  readonly sum: Spent
  readonly of: 'self-check' | 'earlier version'
}

interface BegunAttempt {
  readonly begin: number
  readonly atMost: TokenUsage
  /** The most that it can cost, if it went to another model than the run's own. */
  readonly cost?: Cost
  readonly minutes: number
}

/** How many calls had been answered when a process took the run over, and how many of the answers the ledger had. */
interface Taken {
  readonly answered: number
  readonly replies: number
}

type JournalLine = SpentSum | BegunAttempt | ({ readonly end: number } & EndedAttempt) | { taken: Taken }

/**
 * `calls.jsonl`: every attempt to call the model, noted before it is made and again when it has ended. What a run has spent
 * is the sum of these lines, however often it was stopped or killed. A kill loses no line; a power loss may lose those
 * since the last checkpoint.
 */
export class CallJournal {
  /** What was spent before this process, in order. */
  readonly earlier: readonly (SpentSum | EndedAttempt)[]
  readonly path: string
  readonly #file: LineFile
  #taken: Taken = { answered: 0, replies: 0 }
  #answered = 0
  #selfChecked = 0
  /** Attempts that the last process did not wait for: those that it gave up, and those under way when it was killed. */
  #abandoned = 0
  /** Control calls that were answered since then. */
  #controls = 0
  #next = 0

  constructor(path: string, price: Price | undefined) {
    this.path = path
    this.#file = new LineFile(path)
    const underWay = new Map<number, BegunAttempt>()
    const earlier: (SpentSum | EndedAttempt)[] = []
    for (const line of readLines(path) as JournalLine[]) {
      if ('taken' in line) {
        this.#taken = line.taken
        this.#abandoned = 0
        this.#controls = 0
      } else if ('begin' in line) {
        underWay.set(line.begin, line)
        this.#next = line.begin + 1
      } else {
        // A crash may leave a line twice: an attempt ends once.
        if ('end' in line && !underWay.delete(line.end)) continue
        this.#count(line)
        earlier.push(line)
      }
    }
    for (const { begin, atMost, minutes, ...begun } of underWay.values()) {
      const cost = begun.cost ?? costOf(atMost, price, new Date())
      const lost = { kind: 'lost', atMost, cost, minutes } as const
      this.end(begin, lost)
      this.#count(lost)
      earlier.push(lost)
    }
    this.earlier = earlier
  }

  get digest(): FileDigest {
    return this.#file.digest
  }

  begin(atMost: TokenUsage, minutes: number, cost?: Cost): number {
    const id = this.#next
    this.#next += 1
    this.#file.note({ begin: id, atMost, minutes, ...(cost && { cost }) })
    return id
  }

  end(id: number, ended: EndedAttempt): void {
    this.#file.note({ end: id, ...ended })
  }

  /**
   * Takes the run over from the last process and returns how many calls that one has lost: it did not wait for them, or was
   * killed before their answers were kept. `replies`: those that the ledger has. `updated`: calls until the last update,
   * which has used up their answers.
   */
  take({ replies, updated }: { readonly replies: number; readonly updated: number }): number {
    const { answered, replies: before } = this.#taken
    const kept = Math.max(0, replies - before + this.#controls, updated - this.#selfChecked - answered)
    const lost = this.#abandoned + Math.max(0, this.#answered - answered - kept)
    this.#file.note({ taken: { answered: this.#answered, replies } })
    return lost
  }

  sync(): void {
    this.#file.sync()
  }

  close(): void {
    this.#file.close()
  }

  #count(line: SpentSum | EndedAttempt): void {
    if ('sum' in line) {
      if (line.of === 'self-check') this.#selfChecked += line.sum.calls
      else this.#answered += line.sum.calls
    } else if (line.kind === 'answered') {
      this.#answered += 1
      if (line.control === true) this.#controls += 1
    } else if (line.kind === 'lost' || line.kind === 'cancelled') this.#abandoned += 1
  }
}

/** Notes what was spent before there was a journal, so that it counts when the journal is opened. */
export function noteSpent(path: string, sum: SpentSum): void {
  const file = new LineFile(path)
  file.append(sum)
  file.close()
}
