import { createHash } from 'node:crypto'
import { taskView } from '../../execution/text.ts'
import { canonicalJson, type JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { type AnswerForm, answerKey, formOfAnswer } from './answer-form.ts'
import { hardnessOf } from './hardness.ts'
import type { KnownTask } from './known-task.ts'
import { type AskedTask, askedTask } from './node-request.ts'
import { kindOf, type QuestionKind } from './question-kind.ts'
import { wrongAnswers } from './wrong-answers.ts'

/** A known task with everything derived from it. */
export interface KnownQuestion {
  readonly task: Task
  readonly form: AnswerForm
  readonly kind: QuestionKind
  /** From -1 (easy) to 1 (hard). */
  readonly hardness: number
  readonly hasOptions: boolean
  /** Number of answers to guess from; 0 if guessing is hopeless. */
  readonly choices: number
  /** The right answer, then the wrong ones. */
  readonly answers: readonly JsonValue[]
  readonly keys: readonly string[]
}

/** Only this many characters of a text are compared, since a length budget may have cut the rest. */
const prefixLength = 200
const comparedCells = 40

/**
 * The tasks known to the simulated model. Requests carry no task id, so a task is found by what the request shows of
 * it: all of it, or most of it if a length budget has cut something.
 */
export class KnownTasks {
  readonly #tasks: readonly KnownTask[]
  readonly #byPrefix: ReadonlyMap<string, readonly KnownTask[]>
  // Filled on demand, since a benchmark's training split may have a hundred thousand tasks.
  readonly #byText = new Map<string, ReadonlyMap<string, KnownTask>>()
  readonly #questions = new Map<KnownTask, KnownQuestion>()

  constructor(tasks: Iterable<KnownTask>) {
    this.#tasks = [...tasks]
    this.#byPrefix = Map.groupBy(this.#tasks, ({ task }) => prefixOf(task.question))
  }

  get size(): number {
    return this.#tasks.length
  }

  /** SHA-256 (hex) of everything that can change an answer. */
  fingerprint(): string {
    const hash = createHash('sha256')
    for (const known of this.#tasks) hash.update(`${canonicalJson(known as unknown as JsonValue)}\n`)
    return hash.digest('hex')
  }

  find(asked: AskedTask): KnownQuestion | undefined {
    const prefix = prefixOf(asked.question)
    const alike = this.#byPrefix.get(prefix)
    if (alike === undefined) return undefined
    const byText =
      this.#byText.get(prefix) ??
      new Map(alike.map((known) => [textOf(askedTask(taskView(known.task))), known]))
    this.#byText.set(prefix, byText)
    const known = byText.get(textOf(asked)) ?? mostAlike(alike, asked)
    if (known === undefined) return undefined
    const question = this.#questions.get(known) ?? questionOf(known)
    this.#questions.set(known, question)
    return question
  }
}

function questionOf({ task, answer, wrong, kind }: KnownTask): KnownQuestion {
  const form = formOfAnswer(answer, task)
  const answers = [answer, ...wrongAnswers(task, answer, form, wrong)]
  const { options = [] } = task
  return {
    task,
    form,
    kind: kind ?? kindOf(task, form),
    hardness: hardnessOf(task),
    hasOptions: options.length > 0,
    choices: form === 'boolean' ? 2 : form === 'label' ? options.length : 0,
    answers,
    keys: answers.map((one) => answerKey(one, form)),
  }
}

function prefixOf(text: string): string {
  return text.slice(0, prefixLength)
}

function textOf({ question, options, context, tables }: AskedTask): string {
  return JSON.stringify([question, options, context, tables])
}

/** The most similar task, if more than half of it matches. */
function mostAlike(tasks: readonly KnownTask[], asked: AskedTask): KnownTask | undefined {
  const cells = new Set(asked.tables.split(/[|\n]/).map((cell) => cell.trim()))
  const [best] = tasks
    .map((known) => ({ known, likeness: likenessOf(known.task, asked, cells) }))
    .filter(({ likeness }) => likeness > 0.5)
    .sort((a, b) => b.likeness - a.likeness)
  return best?.known
}

/** The share of a task's parts that match; 0 if its options differ. */
function likenessOf(task: Task, asked: AskedTask, cells: ReadonlySet<string>): number {
  const { options = [], context = [] } = task
  if (options.length !== asked.options.length) return 0
  const startsAlike = (text: string, other = '') => (prefixOf(text) === prefixOf(other) ? 1 : 0)
  const parts = [
    task.question === asked.question ? 1 : 0.6,
    ...options.map(({ text }, index) => startsAlike(text, asked.options[index].text)),
    ...context.map((passage, index) => startsAlike(passage, asked.context[index])),
    ...firstCells(task).map((cell) => (cells.has(cell) ? 1 : 0)),
  ]
  return parts.reduce((a, b) => a + b, 0) / parts.length
}

/** Taken from the top, which a length budget cuts last. */
function firstCells({ tables = [] }: Task): readonly string[] {
  const cells = tables.flatMap(({ header = [], rows }) => [header, ...rows.slice(0, comparedCells)].flat())
  return cells
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .slice(0, comparedCells)
}
