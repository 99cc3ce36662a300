import { awaitGiven } from '../../library/given-promise.ts'
import { TaskSetError } from '../task-set.ts'
import { gatherTaskSet, type OwnTaskOptions, type OwnTaskSet } from './own-task-set.ts'
import { checkQuestion, type GivenQuestion, type PlacedQuestion } from './question.ts'

/** Questions, or a function that returns them when needed. */
export type QuestionSource =
  | readonly GivenQuestion[]
  | (() => readonly GivenQuestion[] | Promise<readonly GivenQuestion[]>)

/** Questions from code: `train` and `test`, or `questions` to be divided. */
export type TaskDefinition = OwnTaskOptions & { readonly name: string } & (
    | { readonly train: QuestionSource; readonly test: QuestionSource; readonly questions?: never }
    | { readonly questions: QuestionSource; readonly train?: never; readonly test?: never }
  )

export interface DefinedTasks {
  readonly name: string
  /** Gets the questions and makes the task set. The options are defaults for what the definition leaves out. */
  load(options?: OwnTaskOptions): Promise<OwnTaskSet>
}

/** Defines a task set in code; questions have the same fields as in a file. Nothing is read or checked before `load`. */
export function defineTasks({ train, test, questions, ...own }: TaskDefinition): DefinedTasks {
  const sources = Object.entries({ train, test, questions }).filter(([, source]) => source !== undefined)
  return {
    name: own.name,
    async load(options = {}) {
      const given = sources.map(([name]) => name).join(' and ')
      if (given !== 'train and test' && given !== 'questions')
        throw new TaskSetError(
          `The tasks '${own.name}' have ${given || 'no questions'}. Give train and test, or questions.`,
        )
      const placed: PlacedQuestion[] = []
      for (const [list, source] of sources) {
        const file = `tasks '${own.name}', ${list}`
        const rows: unknown =
          typeof source === 'function'
            ? await awaitGiven(source(), `${file}: its function returned a promise that never settles.`)
            : source
        if (!Array.isArray(rows) || rows.length === 0)
          throw new TaskSetError(
            `${file}: must be a list of questions, or a function that gives one; not empty.`,
          )
        const split = list === 'questions' ? undefined : list
        for (const [index, row] of rows.entries())
          placed.push(checkQuestion(row, { file, row: index + 1, index }, split))
      }
      return gatherTaskSet(placed, { ...options, ...own })
    },
  }
}
