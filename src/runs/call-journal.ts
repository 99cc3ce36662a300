import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { DiskError } from './disk-error.ts'

const begun = '+'
const failed = '-'

/**
 * One byte for every call that was begun and one for every one that failed, so that a resumed run can tell how many were in
 * flight when its process was killed or gave them up. It is not waited for to be on the disk: after a power loss fewer may be told of.
 */
export class CallJournal {
  readonly path: string
  readonly #file: number
  #open = 0

  constructor(path: string) {
    this.path = path
    this.#file = this.#onDisk(() => openSync(path, 'a+'))
    for (const mark of readFileSync(path, 'latin1')) this.#count(mark)
  }

  begin(): void {
    this.#mark(begun)
  }

  /** It brought no answer: if it is made again, that is no repetition. */
  fail(): void {
    this.#mark(failed)
  }

  /** How many were begun, did not fail and are not among the answers that are kept. They are settled by being asked for. */
  takeInFlight(answered: number): number {
    const inFlight = Math.max(0, this.#open - answered)
    if (inFlight > 0) this.#mark(failed.repeat(inFlight))
    return inFlight
  }

  close(): void {
    closeSync(this.#file)
  }

  #mark(marks: string): void {
    this.#onDisk(() => writeSync(this.#file, marks))
    for (const mark of marks) this.#count(mark)
  }

  #count(mark: string): void {
    if (mark === begun) this.#open += 1
    else if (mark === failed) this.#open -= 1
  }

  #onDisk<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw new DiskError(this.path, 1, error as NodeJS.ErrnoException)
    }
  }
}
