import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { type JsonValue, plain } from '../../library/json-value.ts'
import { type KnownTask, knownTasks } from '../../simulator/model/known-task.ts'
import { questionKinds } from '../../simulator/model/question-kind.ts'
import { ownTaskSet } from '../../tasks/own/own-task-set.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { DataError } from '../../tasks/sources/data-error.ts'
import { readRecords } from '../../tasks/sources/records.ts'
import { UsageError } from '../problem.ts'
import { taskFileSchema } from './input-schema.ts'

const answer = z.custom<JsonValue>(
  (value) => value !== null && plain(value) !== undefined,
  'Invalid input: expected an answer: JSON other than null, not nested too deeply',
)

/** A line of the tasks file of `magic simulate`; docs/simulated-model.md describes it. */
const row = z.strictObject({
  task: taskFileSchema.required({ id: true }),
  answer,
  wrong: z.array(answer).exactOptional(),
  kind: z.enum(questionKinds).exactOptional(),
})

/**
 * Reads tasks with their answers: from a question file as `magic train` takes it, or from lines that also give a kind. What is
 * wrong is told with file, row and field.
 */
export async function readKnownTasks(path: string): Promise<KnownTask[]> {
  if (isQuestionFile(path) && holdsQuestions(path)) return knownTasks(await ownTaskSet({ files: path }))
  const known: KnownTask[] = []
  const rows = new Map<string, number>()
  try {
    await readRecords(path, row, ({ task, ...rest }, at) => {
      const earlier = rows.get(task.id)
      if (earlier !== undefined)
        throw new DataError(`'${task.id}' is the id of row ${earlier} already.`, at, 'task.id')
      rows.set(task.id, at.row)
      known.push({ task: { metadata: {}, ...task }, ...rest })
    })
  } catch (error) {
    if (error instanceof DataError) throw new UsageError(error.message, { cause: error })
    throw error
  }
  return known
}

/** CSV does, and lines whose first has a question of its own instead of a task around it. */
function holdsQuestions(path: string): boolean {
  if (!path.endsWith('.jsonl')) return true
  const first = statSync(path, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(path, 'utf8')
        .split('\n')
        .find((line) => line.trim() !== '')
    : undefined
  try {
    const value: unknown = JSON.parse(first ?? 'null')
    return typeof value === 'object' && value !== null && 'question' in value
  } catch {
    return false
  }
}
