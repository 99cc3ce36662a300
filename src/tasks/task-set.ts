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
 * One kind of task: questions with references, what an answer must look like, how it is scored, and who may work on it. The
 * eight benchmarks, the synthetic set and a user's own questions all take this form; nothing else tells them apart.
 */
export interface TaskSet<R = unknown> {
  /** In runs, ledgers and the policy's metadata: lower-case letters, digits, `-` and `_`. */
  readonly name: string
  /** For people. */
  readonly title: string
  /** What the mean score is called: accuracy, F1, pass@1. */
  readonly metric: string
  /** The roles that take part, no others. */
  readonly library: Library
  readonly profile: DatasetProfile
  readonly scorer: TaskScorer<R>
  /** `train` is learned from, `test` is held out; there may be more. */
  readonly splits: Readonly<Record<string, TaskSplit<R>>>
  /** How the examples were chosen; written into each run. */
  readonly selection: JsonObject
  /** What was read for it. */
  readonly files: readonly DataFile[]
  contractOf(task: Task): AnswerContract
}

/** Tasks in order. References are kept apart: solvers get the tasks, scorers the references. */
export interface TaskSplit<R = unknown> {
  readonly tasks: readonly Task[]
  /** One for every task. */
  readonly references: ReadonlyMap<string, R>
}

export interface TaskScorer<R = unknown> {
  /** Changes whenever the same answer may get another score. */
  readonly version: string
  /** A wrong answer scores zero and never throws. Not called for an execution without an answer. */
  score(answer: JsonValue, reference: R, means: ScoringMeans): Score | Promise<Score>
  /** An answer that scores 1, if one is known; only the self-check and the simulated model get it. */
  solution?(reference: R): Solution | undefined
  /** Where a language model judges: what it is told. Scoring then costs something, so that it is done once. */
  readonly judge?: string
  /** Whether this reference's answers are programs that must be run. */
  needsSandbox?(reference: R): boolean
}

export interface ScoringMeans {
  /** Absent where programs cannot be run. */
  readonly pool?: SandboxPool
  /** Asks the run's model, for a judge. Absent where nothing may be spent. */
  readonly ask?: (request: { readonly system: string; readonly user: string }) => Promise<string>
  readonly signal?: AbortSignal
  /** Nodes of the execution that ended without a valid packet. */
  readonly failures?: number
}

export interface Solution {
  readonly answer: JsonValue
  /** Answers of the right form that surely score below 1, the most tempting first. */
  readonly wrong?: readonly JsonValue[]
}

/** Throws an error that names the splits there are. */
export function splitOf<R>(set: TaskSet<R>, name: string): TaskSplit<R> {
  const split = Object.hasOwn(set.splits, name) ? set.splits[name] : undefined
  if (split !== undefined) return split
  throw new TaskSetError(
    `The task set '${set.name}' has no split '${name}'; it has ${Object.keys(set.splits).join(', ')}.`,
  )
}

/** A digest of one example and how it is scored: a stored result is reused only while both are unchanged. */
export function taskVersion(set: Pick<TaskSet, 'scorer'>, task: Task, reference: unknown): string {
  const dataVersion = hash('sha256', canonicalJson([task, reference ?? null]), 'hex')
  return hash('sha256', JSON.stringify(['task-1', dataVersion, set.scorer.version]), 'hex')
}

/** A digest of a whole split, whatever the order of its tasks. */
export function splitVersion(set: TaskSet, name: string): string {
  const { tasks, references } = splitOf(set, name)
  const versions = tasks.map(
    (task) => `${JSON.stringify(task.id)} ${taskVersion(set, task, references.get(task.id))}`,
  )
  return hash('sha256', versions.sort().join('\n'), 'hex')
}

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

/** A problem with a task set that the user can fix; the message says how. */
export class TaskSetError extends Problem {}
