import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { RunFolder } from '../store/run-folder.ts'
import { type RunOverview, runOverview } from './run-overview.ts'

/** A run of a runs folder, or why it cannot be read: one that is damaged must not hide the others. */
export type ListedRun =
  | { readonly name: string; readonly folder: RunFolder; readonly overview: RunOverview }
  | { readonly name: string; readonly folder: RunFolder; readonly problem: string }

/** The newest first; those that cannot be read last. */
export function listRuns(runs: string): ListedRun[] {
  if (!existsSync(runs)) return []
  return readdirSync(runs)
    .map((name) => ({ name, folder: new RunFolder(join(runs, name)) }))
    .filter(({ folder }) => folder.exists)
    .map(({ name, folder }): ListedRun => {
      try {
        return { name, folder, overview: runOverview(folder) }
      } catch (error) {
        return { name, folder, problem: (error as Error).message }
      }
    })
    .toSorted((a, b) => begun(b).localeCompare(begun(a)) || a.name.localeCompare(b.name))
}

function begun(run: ListedRun): string {
  return 'overview' in run ? run.overview.record.createdAt : ''
}
