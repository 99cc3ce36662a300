import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../problem.ts'
import { findRun, RunFolder } from '../store/run-folder.ts'
import { FollowedRun } from './followed-run.ts'

/**
 * The runs of a folder, each read once and then followed. Runs are looked up by name among those that exist: a name from a
 * request never becomes part of a path.
 */
export class RunShelf {
  readonly folder: string
  #runs = new Map<string, FollowedRun>()

  constructor(folder: string) {
    this.folder = folder
  }

  /** Newest first; unreadable ones last. */
  list(): FollowedRun[] {
    const names = existsSync(this.folder) ? readdirSync(this.folder) : []
    const runs = names.flatMap((name) => this.#runs.get(name) ?? this.#open(name) ?? [])
    this.#runs = new Map(runs.filter(({ folder }) => folder.exists).map((run) => [run.name, run]))
    const begun = (run: FollowedRun) => (run.problem === undefined ? run.record.createdAt : '')
    return [...this.#runs.values()]
      .map((run) => run.refresh())
      .toSorted((a, b) => begun(b).localeCompare(begun(a)) || a.name.localeCompare(b.name))
  }

  /** The run of this name. Throws if it cannot be read. */
  find(name: string): FollowedRun {
    if (!this.#runs.has(name)) this.list()
    const known = this.#runs.get(name)
    if (known === undefined) throw new UnknownError(`There is no run of that name in ${this.folder}.`)
    const run = known.refresh()
    if (run.problem !== undefined) throw new Problem(run.problem)
    return run
  }

  #open(name: string): FollowedRun | undefined {
    if (!new RunFolder(join(this.folder, name)).exists) return undefined
    try {
      return new FollowedRun(name, findRun(name, this.folder))
    } catch {
      // Not a valid name for a run, or a link that leads out of the folder.
      return undefined
    }
  }
}

/** The request names something that does not exist. */
export class UnknownError extends Problem {}
