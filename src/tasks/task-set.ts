import { hash } from 'node:crypto'
import type { AnswerContract } from '../library/answer-contract.ts'
import { canonicalJson, type JsonObject, type JsonValue } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Score } from '../library/score.ts'
import type { Task } from '../library/task.ts'
import { Problem } from '../problem.ts'
import type { SandboxPool } from '../sandbox/pool.ts'
import type { DataFile } from './sources/data-file.ts'

/**
 * A set of tasks: questions with references, the form of answers, how they are scored, and who may work on them.
 * Benchmarks, the synthetic set and a user's own questions all take this form.
 */
export interface TaskSet<R = unknown> {
  /** Used in runs, ledgers and the policy's metadata: lower-case letters, digits, `-` and `_`. */
  readonly name: string
  /** For display. */
  readonly title: string
  /** The name of the mean score: accuracy, F1, pass@1. */
  readonly metric: string
  /** Only the roles that take part. */
  readonly library: Library
  readonly profile: DatasetProfile
  readonly scorer: TaskScorer<R>
  /** `train` is for learning, `test` is held out; there may be more. */
  readonly splits: Readonly<Record<string, TaskSplit<R>>>
  /** How the examples were chosen; written into each run. */
  readonly selection: JsonObject
  /** The files it was read from. */
  readonly files: readonly DataFile[]
  contractOf(task: Task): AnswerContract
}

/** Tasks in order, separate from their references: solvers get the tasks, scorers the references. */
export interface TaskSplit<R = unknown> {
  readonly tasks: readonly Task[]
  /** One for every task. */
  readonly references: ReadonlyMap<string, R>
}

export interface TaskScorer<R = unknown> {
  /** Changes whenever the same answer may get another score. */
  readonly version: string
  /** A wrong answer scores zero; it must not throw. Not called if there is no answer. */
  score(answer: JsonValue, reference: R, means: ScoringMeans): Score | Promise<Score>
  /** An answer that scores 1, if known. Only the self-check and the simulated model see it. */
  solution?(reference: R): Solution | undefined
  /** The instructions of a language model that judges. Scoring then costs money, so it is done only once. */
  readonly judge?: string
  /** Whether answers to this reference are programs that must be run. */
  needsSandbox?(reference: R): boolean
}

export interface ScoringMeans {
  /** Absent if programs cannot be run. */
  readonly pool?: SandboxPool
  /** Asks the run's model, for judges. Absent if nothing may be spent. */
  readonly ask?: (request: { readonly system: string; readonly user: string }) => Promise<string>
  readonly signal?: AbortSignal
  /** Nodes of the execution that ended without a valid packet. */
  readonly failures?: number
}

export interface Solution {
  readonly answer: JsonValue
  /** Answers of the right form that score below 1, the most tempting first. */
  readonly wrong?: readonly JsonValue[]
}

/** Throws an error that lists the existing splits. */
export function splitOf<R>(set: TaskSet<R>, name: string): TaskSplit<R> {
  const split = Object.hasOwn(set.splits, name) ? set.splits[name] : undefined
  if (split !== undefined) return split
  throw new TaskSetError(
    `The task set '${set.name}' has no split '${name}'; it has ${Object.keys(set.splits).join(', ')}.`,
  )
}

/** A digest of an example and its scorer: stored results are reused only while both are unchanged. */
export function taskVersion(set: Pick<TaskSet, 'scorer'>, task: Task, reference: unknown): string {
  const dataVersion = hash('sha256', canonicalJson([task, reference ?? null]), 'hex')
  return hash('sha256', JSON.stringify(['task-1', dataVersion, set.scorer.version]), 'hex')
}

/** A digest of a whole split, independent of task order. */
export function splitVersion(set: TaskSet, name: string): string {
  const { tasks, references } = splitOf(set, name)
  const versions = tasks.map(
    (task) => `${JSON.stringify(task.id)} ${taskVersion(set, task, references.get(task.id))}`,
  )
  return hash('sha256', versions.sort().join('\n'), 'hex')
}

/** The content of a run's `membership.json`: the set's examples, how they were chosen, and the files read. */
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

/** A problem with a task set that the user can fix; the message says how. */
export class TaskSetError extends Problem {}
