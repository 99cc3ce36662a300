import type { JsonObject } from '../library/json-value.ts'
import { splitVersion, type TaskSet } from './task-set.ts'

/** Which examples a set has, how they were chosen and what was read for them: the content of a run's `membership.json`. */
export function membership(set: TaskSet): JsonObject {
  const names = Object.keys(set.splits)
  const bySplit = <T>(value: (name: string) => T) =>
    Object.fromEntries(names.map((name) => [name, value(name)]))
  return {
    taskSet: set.name,
    selection: set.selection,
    splits: bySplit((name) => set.splits[name]!.tasks.map(({ id }) => id)),
    versions: bySplit((name) => splitVersion(set, name)),
    files: set.files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
  }
}
