import type { Task } from '../../library/task.ts'
import { logarithm } from '../../numerics/random.ts'

/** Features of a question that need no understanding of it, with mean 0 and deviation 1 over the training questions. */
export interface QuestionTraits {
  readonly names: readonly string[]
  of(task: Task): Float64Array
}

/** A mark that fewer questions have (or lack) than this share is too rare to learn from. */
const rare = 0.05

/**
 * Traits learned from the training questions: the form of the answer, what comes with the question, and how much
 * there is to read. They separate kinds of questions better than embeddings, in which the topic dominates.
 */
export function questionTraits(tasks: readonly Task[], contractName: (task: Task) => string): QuestionTraits {
  const marksOf = (task: Task) => new Set([`answer ${contractName(task)}`, ...attachments(task)])
  const counts = new Map<string, number>()
  for (const task of tasks) for (const mark of marksOf(task)) counts.set(mark, (counts.get(mark) ?? 0) + 1)
  const marks = [...counts]
    .map(([mark, count]) => ({ mark, share: count / tasks.length }))
    .filter(({ share }) => share >= rare && share <= 1 - rare)
    .sort((a, b) => (a.mark < b.mark ? -1 : 1))
  const sizes = Object.entries(measures).flatMap(([name, measure]) => {
    const values = tasks.map((task) => logarithm(1 + measure(task)))
    const mean = values.reduce((sum, value) => sum + value, 0) / tasks.length
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / tasks.length)
    return deviation < 1e-9 ? [] : [{ name, measure, mean, deviation }]
  })
  return {
    names: [...marks.map(({ mark }) => mark), ...sizes.map(({ name }) => name)],
    of(task) {
      const own = marksOf(task)
      return Float64Array.from([
        ...marks.map(({ mark, share }) => ((own.has(mark) ? 1 : 0) - share) / Math.sqrt(share * (1 - share))),
        ...sizes.map(({ measure, mean, deviation }) => (logarithm(1 + measure(task)) - mean) / deviation),
      ])
    },
  }
}

function attachments({ options, context, tables, program, publicTests }: Task): string[] {
  const given = { options, context, tables, tests: publicTests }
  const attached = Object.entries(given).flatMap(([name, items]) => (items?.length ? [name] : []))
  return program === undefined ? attached : [...attached, 'program']
}

const measures = {
  words: ({ question, options = [], context = [], tables = [] }: Task) =>
    [question, ...options.map(({ text }) => text), ...context, ...tables.flatMap(({ rows }) => rows.flat())]
      .map((text) => text.split(/\s+/).length)
      .reduce((sum, words) => sum + words, 0),
} satisfies Record<string, (task: Task) => number>
