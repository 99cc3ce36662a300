// What the policy reads of a task, in training and in use. Prompts render tasks with separate code
// (execution/text.ts), so that a change there cannot change what a trained policy sees.
import { hash } from 'node:crypto'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Table, Task } from '../library/task.ts'
import { compareTools } from '../library/tool-name.ts'
import { Problem } from '../problem.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'
import { unitVectorOfSum } from './unit-vector.ts'

/** Raise this with every change to the texts below: trained weights only fit one version. */
const textVersion: number = 1

/** What the policy knows about a task's data set. */
export interface QuerySetting {
  readonly name: string
  readonly library: Pick<Library, 'roles'>
  readonly profile: Pick<DatasetProfile, 'tools'>
}

/** The query embedding q: question with options, public context, and data set with roles and tools, encoded and mixed. */
export function queryEmbedding(
  task: Task,
  setting: QuerySetting,
  encoder: FrozenTextEncoder,
): Promise<Float32Array> {
  return taskEmbedding(queryTexts(task, setting), encoder)
}

/**
 * Identifies the policy's input: the encoder and its texts. Stored in runs and checkpoints. For version 1 of the
 * texts it is the encoder's own fingerprint, as recorded before texts had a version.
 */
export function inputFingerprint({ fingerprint }: FrozenTextEncoder, version = textVersion): string {
  return version === 1 ? fingerprint : hash('sha256', JSON.stringify([fingerprint, version]), 'hex')
}

/** Everything the policy reads of a task, as text. */
export function queryTexts(task: Task, { name, library, profile }: QuerySetting): TaskFields {
  const { question, options, context = [], tables = [] } = task
  const tools = [...profile.tools].sort(compareTools)
  const metadata = [`data set: ${name}`, `roles: ${library.roles.map(({ id }) => id).join(', ')}`]
  if (tools.length > 0) metadata.push(`tools: ${tools.join(', ')}`)
  return {
    question,
    options: options?.map(({ label, text }) => `${label}. ${text}`),
    context: [...context, tables.map(tableText).join('\n\n')].filter((text) => text !== '').join('\n\n'),
    metadata: metadata.join('\n'),
  }
}

/** A title and one line per row. */
function tableText({ name, caption, header, rows }: Table): string {
  const title = caption === undefined || caption === '' ? name : `${name}: ${caption}`
  const lines = header === undefined ? rows : [header, ...rows]
  return [oneLine(title), ...lines.map((cells) => cells.map(cellText).join(' | '))].join('\n')
}

/** Escaped, so that one cell cannot look like two. */
function cellText(cell: string): string {
  return oneLine(cell).replaceAll('|', '\\|')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ')
}

/** What the policy reads of a task. Answer-format instructions are not included: only executors get them. */
export interface TaskFields {
  readonly question: string
  readonly options?: readonly string[]
  readonly context?: string
  /** Data set, roles and tools of the profile. */
  readonly metadata?: string
}

const weights = { question: 0.5, context: 0.4, metadata: 0.1 } as const

/** q = Normalize(0.5 e_question + 0.4 e_context + 0.1 e_metadata); a missing or blank field is left out of the sum. */
export async function taskEmbedding(fields: TaskFields, encoder: FrozenTextEncoder): Promise<Float32Array> {
  const present = [
    { weight: weights.question, text: [fields.question, ...(fields.options ?? [])].join('\n') },
    { weight: weights.context, text: fields.context ?? '' },
    { weight: weights.metadata, text: fields.metadata ?? '' },
  ].filter(({ text }) => text.trim() !== '')
  if (present.length === 0)
    throw new Problem(
      'The task has neither question, options, context nor metadata: there is nothing to embed.',
    )
  const vectors = await encoder.encode(present.map(({ text }) => text))
  return unitVectorOfSum(present.map(({ weight }, index) => ({ weight, vector: vectors[index]! })))
}
