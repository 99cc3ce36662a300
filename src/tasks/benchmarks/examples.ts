import type { Task } from '../../library/task.ts'
import type { Reference } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import type { DataFile } from '../sources/data-file.ts'
import type { RecordPlace } from '../sources/records.ts'

/** Selects which examples become tasks, by position in the pool. The ids of the others still count. */
export type Wanted = (position: number) => boolean

/**
 * Examples of one or more splits, in file order. Tasks and references are in separate maps: solvers get the former,
 * scorers the latter.
 */
export class Examples {
  readonly #wanted: Wanted
  readonly #places = new Map<string, RecordPlace>()
  /** Without examples that were not selected, and those whose table is missing. */
  readonly tasks = new Map<string, Task>()
  /** Without examples whose answer is not published. */
  readonly references = new Map<string, Reference>()
  readonly files: DataFile[] = []
  /** Number of tasks added, kept or not. */
  withTask = 0
  readonly #keeps: boolean

  /** Without `keeps`, examples are only counted, so that files larger than memory can be checked. */
  constructor(wanted: Wanted = () => true, keeps = true) {
    this.#wanted = wanted
    this.#keeps = keeps
  }

  /** All examples, selected or not: the pool that selections are drawn from. */
  get ids(): readonly string[] {
    return [...this.#places.keys()]
  }

  get count(): number {
    return this.#places.size
  }

  /** Adds the next id to the pool and returns whether the example is selected. Throws for a duplicate id. */
  claim(id: string, at: RecordPlace, field: string): boolean {
    const earlier = this.#places.get(id)
    if (earlier !== undefined)
      throw new DataError(
        `the id '${id}' already occurs in row ${earlier.row} of ${earlier.file}.`,
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
