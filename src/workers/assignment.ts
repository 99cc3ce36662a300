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
 * Tells workers what to evaluate with: where to load it from, and a description it must match. Plain data without keys or
 * passwords.
 */
export interface Assignment {
  /** Where tasks and model come from, as in `run.json`. Absent for a run started from code; its workers are too. */
  readonly source?: JsonObject
  readonly parts: ReturnType<typeof describeParts>
  /** Question files sent to workers, by digest. */
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

/** Stores an assignment and its files by digest. Returns the assignment's digest. */
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

/** The content with this digest. Throws if it is missing or was changed. */
export async function getContent(database: Database, digest: string): Promise<Buffer> {
  const rows = await database.query<{ bytes: Buffer }>(
    'SELECT bytes FROM magic_work.content WHERE digest = $1',
    [digest],
  )
  const bytes = rows[0]?.bytes
  if (bytes === undefined || hash('sha256', bytes, 'hex') !== digest)
    throw new Error(`The database has no content with the digest ${digest}.`)
  return bytes
}

export async function getAssignment(database: Database, digest: string): Promise<Assignment> {
  return JSON.parse(String(await getContent(database, digest)))
}

/** Why this worker's answers could differ from the run's; undefined if they cannot. */
export function whyNot(wanted: Assignment['parts'], parts: ExecutorParts): string | undefined {
  const here = describeParts(parts)
  if (here.version !== wanted.version) return `it has version ${here.version}, the run has ${wanted.version}`
  const named = ({ model }: Assignment['parts']) => `${model.provider}/${model.model}`
  if (named(here) !== named(wanted)) return `it calls ${named(here)}, the run calls ${named(wanted)}`
  if (here.library !== wanted.library) return 'it has a different role library'
  const tools = toolDifference(wanted.tools, here.tools)
  if (tools !== undefined) return `the run ${tools}`
  // Not compared: why tools are off, prices and time-outs. They change no answer.
  const deciding = ({ tasks, profile, model, models, executors }: Assignment['parts']) => ({
    ...{ tasks, profile, model, models: models ?? {}, executors },
  })
  const [other] = differingSettings([deciding(wanted), deciding(here)])
  if (other === undefined) return undefined
  const [theirs, ours] = other.values.map((value) => JSON.stringify(value))
  return `${other.name} is ${ours} here and ${theirs} in the run`
}
