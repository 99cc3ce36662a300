import type { Task } from '../../library/task.ts'
import type { Reference } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import type { DataFile } from '../sources/data-file.ts'
import type { RecordPlace } from '../sources/records.ts'

/** Says which examples become tasks, by their position in the pool. The ids of all others still count. */
export type Wanted = (position: number) => boolean

/**
 * Examples of one or more splits, gathered in file order. Tasks and references are kept in two maps: solvers get the one,
 * scorers the other.
 */
export class Examples {
  readonly #wanted: Wanted
  readonly #places = new Map<string, RecordPlace>()
  /** Lacks examples that were not wanted, and those whose table is missing. */
  readonly tasks = new Map<string, Task>()
  /** Lacks examples whose answer the source withholds. */
  readonly references = new Map<string, Reference>()
  readonly files: DataFile[] = []
  /** How many tasks were added, kept or not. */
  withTask = 0
  readonly #keeps: boolean

  /** Without `keeps`, examples are only counted, so that a file larger than the memory can be checked. */
  constructor(wanted: Wanted = () => true, keeps = true) {
    this.#wanted = wanted
    this.#keeps = keeps
  }

  /** Every example, wanted or not: the pool that selections are drawn from. */
  get ids(): readonly string[] {
    return [...this.#places.keys()]
  }

  get count(): number {
    return this.#places.size
  }

  /** Takes the next id into the pool and says whether the example is wanted. An id that comes twice is an error. */
  claim(id: string, at: RecordPlace, field: string): boolean {
    const earlier = this.#places.get(id)
    if (earlier !== undefined)
      throw new DataError(
        `the id '${id}' stands in row ${earlier.row} of ${earlier.file} already.`,
        at,
        field,
      )
    this.#places.set(id, at)
    return this.#wanted(this.#places.size - 1)
  }

  add(id: string, task: Omit<Task, 'id'> | undefined, reference: Reference | undefined): void {
    if (task !== undefined) this.withTask += 1
    if (!this.#keeps) return
    if (task !== undefined) this.tasks.set(id, { id, ...task })
    if (reference !== undefined) this.references.set(id, reference)
  }
}
