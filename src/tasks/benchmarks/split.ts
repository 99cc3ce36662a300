import type { Task } from '../../library/task.ts'
import { DataError } from '../sources/data-error.ts'
import type { DataFile } from '../sources/data-file.ts'
import type { RecordPlace } from '../sources/records.ts'
import type { Reference } from './reference.ts'

/**
 * The examples of a split in file order. Tasks and references lie in two maps, so that what solves gets the one and
 * what scores the other.
 */
export interface Split {
  /** Every example of the file: the pool that selections are drawn from. */
  readonly ids: readonly string[]
  /** Lacks examples that were not asked for, and those whose table is not at hand. */
  readonly tasks: ReadonlyMap<string, Task>
  /** Lacks examples whose answer the source withholds. */
  readonly references: ReadonlyMap<string, Reference>
  readonly files: readonly DataFile[]
}

/** Says which examples are wanted as tasks; the ids of all others still count. */
export type Wanted = (id: string) => boolean

export const everyExample: Wanted = () => true

/** Gathers a split while its files are read; an id that comes twice is an error. */
export class SplitCollector {
  readonly #rows = new Map<string, RecordPlace>()
  readonly #tasks = new Map<string, Task>()
  readonly #references = new Map<string, Reference>()

  addId(id: string, at: RecordPlace, field: string): void {
    const earlier = this.#rows.get(id)
    if (earlier !== undefined)
      throw new DataError(`the id '${id}' stands in row ${earlier.row} of ${earlier.file} already.`, {
        ...at,
        field,
      })
    this.#rows.set(id, at)
  }

  addTask(task: Task): void {
    this.#tasks.set(task.id, task)
  }

  addReference(id: string, reference: Reference): void {
    this.#references.set(id, reference)
  }

  split(files: readonly DataFile[]): Split {
    return { ids: [...this.#rows.keys()], tasks: this.#tasks, references: this.#references, files }
  }
}

/** Several splits as one pool, in the order given. */
export function joinSplits(splits: readonly Split[]): Split {
  const ids = splits.flatMap((split) => split.ids)
  if (new Set(ids).size < ids.length) {
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    throw new Error(`The splits share the example id '${twice}'.`)
  }
  return {
    ids,
    tasks: new Map(splits.flatMap((split) => [...split.tasks])),
    references: new Map(splits.flatMap((split) => [...split.references])),
    files: splits.flatMap((split) => split.files),
  }
}
