import type { Task } from '../../library/task.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constants } from './constants.ts'

/**
 * From -1 (easy) to 1 (hard). Most of it is visible: the more there is to read, the harder. The rest is a hash of the
 * id, which the text does not reveal.
 */
export function hardnessOf(task: Task): number {
  const { shownHardness, easyWords, hardWords } = constants
  const length = Math.log(wordsIn(task) / easyWords) / Math.log(hardWords / easyWords)
  const shown = Math.min(1, Math.max(0, length))
  const hidden = deriveRandom('hardness', task.id).uniform()
  return 2 * (shownHardness * shown + (1 - shownHardness) * hidden) - 1
}

/** Words of question, options and context, and of the tables' cells. */
function wordsIn({ question, options = [], context = [], tables = [] }: Task): number {
  const cells = tables.flatMap(({ rows }) => rows.flat())
  const texts = [question, ...options.map(({ text }) => text), ...context, ...cells]
  return texts.reduce((words, text) => words + (text.match(/\S+/g)?.length ?? 0), 0)
}
