import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { type KnownTask, knownTasks } from '../../simulator/model/known-task.ts'
import { questionKinds } from '../../simulator/model/question-kind.ts'
import { ownTaskSet } from '../../tasks/own/own-task-set.ts'
import { answerSchema } from '../../tasks/own/question.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { DataError } from '../../tasks/sources/data-error.ts'
import { readRecords } from '../../tasks/sources/records.ts'
import { taskFile } from './input-file.ts'

/** One line of `magic simulate --tasks`; see docs/simulated-model.md. */
const row = z.strictObject({
  task: taskFile.required({ id: true }),
  answer: answerSchema,
  wrong: z.array(answerSchema).exactOptional(),
  kind: z.enum(questionKinds).exactOptional(),
})

/** Reads tasks with answers: from a question file for `magic train`, or from lines that also state the kind of question. */
export async function readKnownTasks(path: string): Promise<KnownTask[]> {
  if (isQuestionFile(path) && holdsQuestions(path)) return knownTasks(await ownTaskSet({ files: path }))
  const known: KnownTask[] = []
  const rows = new Map<string, number>()
  await readRecords(path, row, ({ task, ...rest }, at) => {
    const earlier = rows.get(task.id)
    if (earlier !== undefined)
      throw new DataError(`Row ${earlier} already has the id '${task.id}'.`, at, 'task.id')
    rows.set(task.id, at.row)
    known.push({ task: { metadata: {}, ...task }, ...rest })
  })
  return known
}

/** True for CSV, and for JSON Lines whose first line has `question` at the top level rather than inside `task`. */
function holdsQuestions(path: string): boolean {
  if (!path.endsWith('.jsonl')) return true
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
  const [first = ''] = readFileSync(path, 'utf8').trimStart().split('\n', 1)
  try {
    return 'question' in JSON.parse(first)
  } catch {
    return false
  }
}
