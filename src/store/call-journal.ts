import type { FailureKind } from '../models/failure.ts'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { TokenUsage } from '../models/usage.ts'
import type { Spent } from './budget.ts'
import { type FileDigest, LineFile, readLines } from './durable-file.ts'

/** How an attempt to call the model ended. It reported its usage, or may have used up to `atMost`, or used nothing. */
export interface EndedAttempt {
  /** `lost`: its process was killed. */
  readonly kind: 'answered' | 'lost' | FailureKind
  readonly used?: TokenUsage
  readonly atMost?: TokenUsage
  /** Cost of `used` or `atMost`. */
  readonly cost: Cost
  /** A control call: its reply is not stored. */
  readonly control?: true
  /** Working time of the run up to then, over all resumes. */
  readonly minutes: number
}

/** Calls not recorded one by one: those of the self-check, or of a run made by an earlier version. */
export interface SpentSum {
  readonly sum: Spent
  readonly of: 'self-check' | 'earlier version'
}

interface BegunAttempt {
  readonly begin: number
  readonly atMost: TokenUsage
  /** Its maximum cost, if it went to a model other than the run's own. */
  readonly cost?: Cost
  readonly minutes: number
}

/** Calls answered when a process took over the run, and how many of the replies the ledger had. */
interface Taken {
  readonly answered: number
  readonly replies: number
}

type JournalLine = SpentSum | BegunAttempt | ({ readonly end: number } & EndedAttempt) | { taken: Taken }

/**
 * `calls.jsonl`: every attempt to call the model, recorded before it starts and again when it ends. The sum of these
 * lines is what a run has spent, however often it was stopped or killed. A kill loses no line; a power loss may lose
 * those since the last checkpoint.
 */
export class CallJournal {
  /** Spending before this process, in order. */
  readonly earlier: readonly (SpentSum | EndedAttempt)[]
  readonly path: string
  readonly #file: LineFile
  #taken: Taken = { answered: 0, replies: 0 }
  #answered = 0
  #selfChecked = 0
  /** Attempts the last process did not wait for: cancelled, or under way when it was killed. */
  #abandoned = 0
  /** Control calls answered since the run was last taken over. */
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
        // A crash may write a line twice; an attempt ends only once.
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
   * Takes over the run from the last process and returns how many calls that process lost: it did not wait for them,
   * or was killed before their replies were stored. `replies` counts those in the ledger. `updated` counts calls up
   * to the last update, whose replies are no longer needed.
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

  [Symbol.dispose](): void {
    this.close()
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

/** Records spending from before the journal existed, so that it counts once the journal is opened. */
export function noteSpent(path: string, sum: SpentSum): void {
  using file = new LineFile(path)
  file.append(sum)
}
