import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../problem.ts'
import { findRun, RunFolder } from '../store/run-folder.ts'
import { FollowedRun } from './followed-run.ts'

/**
 * The runs of a folder, each read once and then followed. A run is found by its name among those that are there: what a
 * request names never becomes part of a path.
 */
export class RunShelf {
  readonly folder: string
  #runs = new Map<string, FollowedRun>()

  constructor(folder: string) {
    this.folder = folder
  }

  /** The newest first; those that cannot be read last. */
  list(): FollowedRun[] {
    const names = existsSync(this.folder) ? readdirSync(this.folder) : []
    const runs = names.flatMap((name) => this.#runs.get(name) ?? this.#open(name) ?? [])
    this.#runs = new Map(runs.filter(({ folder }) => folder.exists).map((run) => [run.name, run]))
    const begun = (run: FollowedRun) => (run.problem === undefined ? run.record.createdAt : '')
    return [...this.#runs.values()]
      .map((run) => run.refresh())
      .toSorted((a, b) => begun(b).localeCompare(begun(a)) || a.name.localeCompare(b.name))
  }

  /** A run that can be read. */
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
      // A name that no run of ours has, or a link out of the folder.
      return undefined
    }
  }
}

/** Something was asked for that is not there. */
export class UnknownError extends Problem {}
