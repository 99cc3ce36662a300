import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { canonicalJson, type JsonObject, type JsonValue } from '../library/json-value.ts'
import { differingSettings } from '../store/differing-settings.ts'
import type { Database } from '../store/postgres/database.ts'
import { toolDifference } from '../store/run-tools.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import type { EvaluationRules } from '../training/evaluate-graph.ts'
import { describeParts } from '../training/prepare-run.ts'

/**
 * What evaluations are made with: how a worker finds it, and what the worker must then have. Plain data, with neither key nor
 * password.
 */
export interface Assignment {
  /** Where tasks and model come from, as in a run's record. A run from code has none, and its workers are started from code. */
  readonly source?: JsonObject
  readonly parts: ReturnType<typeof describeParts>
  /** Question files that are sent along, by digest, so that a worker need not have them. */
  readonly files: readonly { readonly name: string; readonly path: string; readonly sha256: string }[]
  readonly rules?: EvaluationRules
}

export function assignmentOf(
  parts: ExecutorParts,
  source: JsonObject | undefined,
  rules?: EvaluationRules,
): Assignment {
  const questions = (source?.['tasks'] as JsonObject | undefined)?.['tasks']
  const shipped = parts.set.files.filter(({ path }) => path === questions)
  return {
    ...(source === undefined ? {} : { source }),
    parts: describeParts(parts),
    files: shipped.map(({ path, sha256 }) => ({ name: basename(path), path, sha256 })),
    ...(rules === undefined ? {} : { rules }),
  }
}

/** Stores an assignment and its files under their digests, and returns its own. */
export async function putAssignment(database: Database, assignment: Assignment): Promise<string> {
  const text = canonicalJson(assignment as unknown as JsonValue)
  const digest = hash('sha256', text, 'hex')
  const contents = assignment.files.map(({ path, sha256 }) => [sha256, readFileSync(path)] as const)
  for (const [name, bytes] of [...contents, [digest, Buffer.from(text)] as const])
    await database.query(
      'INSERT INTO magic_work.content (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [name, bytes],
    )
  return digest
}

/** What is stored under a digest. Throws if it was changed. */
export async function getContent(database: Database, digest: string): Promise<Buffer> {
  const rows = await database.query<{ bytes: Buffer }>(
    'SELECT bytes FROM magic_work.content WHERE digest = $1',
    [digest],
  )
  const bytes = rows[0]?.bytes
  if (bytes === undefined || hash('sha256', bytes, 'hex') !== digest)
    throw new Error(`The database does not have the content with the digest ${digest}.`)
  return bytes
}

export async function getAssignment(database: Database, digest: string): Promise<Assignment> {
  return JSON.parse(String(await getContent(database, digest)))
}

/** Names what a worker has that would lead to other answers. Undefined if there is nothing. */
export function whyNot(wanted: Assignment['parts'], parts: ExecutorParts): string | undefined {
  const here = describeParts(parts)
  if (here.version !== wanted.version) return `it is version ${here.version}, the run is of ${wanted.version}`
  const named = ({ model }: Assignment['parts']) => `${model.provider}/${model.model}`
  if (named(here) !== named(wanted)) return `it asks ${named(here)}, the run ${named(wanted)}`
  if (here.library !== wanted.library) return 'it has another library of roles'
  const tools = toolDifference(wanted.tools, here.tools)
  if (tools !== undefined) return `the run ${tools}`
  // Tools may be off for another reason here, and prices or time-outs change no answer.
  const deciding = ({ tasks, profile, model, executors }: Assignment['parts']) => ({
    ...{ tasks, profile, model, executors },
  })
  const [other] = differingSettings([deciding(wanted), deciding(here)])
  if (other === undefined) return undefined
  const [theirs, ours] = other.values.map((value) => JSON.stringify(value))
  return `${other.name} is ${ours} here and ${theirs} in the run`
}
