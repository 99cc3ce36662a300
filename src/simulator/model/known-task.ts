import { createHash } from 'node:crypto'
import { taskView } from '../../execution/task-text.ts'
import { canonicalJson, type JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { type AnswerForm, answerKey, formOfAnswer } from './answer-form.ts'
import { type AskedTask, askedTask } from './node-request.ts'
import { hardnessOf, kindOf, type QuestionKind, type QuestionView } from './question-kind.ts'
import { wrongAnswers } from './wrong-answers.ts'

/** A task with its answer, as the simulated model is given it at its start. */
export interface KnownTask {
  readonly task: Task
  /** The right answer in the form that the answer contract asks for; for code, a program that passes. */
  readonly answer: JsonValue
  /** Wrong answers in the same form, the most tempting first. Made up where there are none. */
  readonly wrong?: readonly JsonValue[]
  /** What the question takes, where task and answer do not show it. */
  readonly kind?: QuestionKind
}

/** A known task with all that follows from it. */
export interface Question {
  readonly task: Task
  readonly form: AnswerForm
  readonly kind: QuestionKind
  readonly hardness: number
  /** The right answer, then the wrong ones. */
  readonly answers: readonly JsonValue[]
  readonly keys: readonly string[]
}

/** Tasks that start alike. */
interface Namesakes {
  readonly tasks: KnownTask[]
  /** By what a request shows of them; made when first asked for. */
  exact?: ReadonlyMap<string, KnownTask>
}

/** So many characters of a text are compared: a length budget may have cut the rest. */
const prefixLength = 200
const comparedCells = 40

/**
 * The tasks that the simulated model knows, found by what a request shows of them, since it carries no task id: as a
 * whole, or, where a length budget has cut it, by how much of it is there.
 */
export class KnownTasks {
  readonly #tasks: readonly KnownTask[]
  readonly #byPrefix = new Map<string, Namesakes>()
  readonly #questions = new Map<KnownTask, Question>()

  constructor(tasks: Iterable<KnownTask>) {
    this.#tasks = [...tasks]
    for (const known of this.#tasks) {
      const prefix = prefixOf(known.task.question)
      const namesakes = this.#byPrefix.get(prefix)
      if (namesakes === undefined) this.#byPrefix.set(prefix, { tasks: [known] })
      else namesakes.tasks.push(known)
    }
  }

  get size(): number {
    return this.#tasks.length
  }

  /** SHA-256 (hex) of all that can change an answer. */
  fingerprint(): string {
    const hash = createHash('sha256')
    for (const known of this.#tasks) hash.update(`${canonicalJson(known as unknown as JsonValue)}\n`)
    return hash.digest('hex')
  }

  find(asked: AskedTask): Question | undefined {
    const namesakes = this.#byPrefix.get(prefixOf(asked.question))
    if (namesakes === undefined) return undefined
    namesakes.exact ??= new Map(
      namesakes.tasks.map((known) => [shownKey(askedTask(taskView(known.task))), known]),
    )
    const known = namesakes.exact.get(shownKey(asked)) ?? mostAlike(namesakes.tasks, asked)
    return known === undefined ? undefined : this.#question(known)
  }

  /** Made when first asked for: a benchmark's training split may have a hundred thousand tasks. */
  #question(known: KnownTask): Question {
    const made = this.#questions.get(known) ?? questionOf(known)
    this.#questions.set(known, made)
    return made
  }
}

export function viewOf({ question, options = [], tables = [], program }: Task): QuestionView {
  return { question, options, hasTables: tables.length > 0, hasProgram: program !== undefined }
}

function questionOf(known: KnownTask): Question {
  const { task, answer, wrong } = known
  const view = viewOf(task)
  const form = formOfAnswer(answer, view)
  const answers = [answer, ...wrongAnswers(task, answer, form, wrong)]
  return {
    task,
    form,
    kind: known.kind ?? kindOf(view, form),
    hardness: hardnessOf(task.id),
    answers,
    keys: answers.map((one) => answerKey(one, form)),
  }
}

function prefixOf(question: string): string {
  return question.slice(0, prefixLength)
}

function shownKey({ question, options, context, tables }: AskedTask): string {
  return JSON.stringify([question, options, context, tables])
}

function mostAlike(tasks: readonly KnownTask[], asked: AskedTask): KnownTask | undefined {
  const cells = new Set(asked.tables.split(/[|\n]/).map((cell) => cell.trim()))
  let best: KnownTask | undefined
  let most = 0.5
  for (const known of tasks) {
    const likeness = likenessOf(known.task, asked, cells)
    if (likeness <= most) continue
    best = known
    most = likeness
  }
  return best
}

/** The share of a task's parts that are there; 0 if its options are others. */
function likenessOf(task: Task, asked: AskedTask, cells: ReadonlySet<string>): number {
  const { options = [], context = [] } = task
  if (options.length !== asked.options.length) return 0
  const parts = [
    task.question === asked.question ? 1 : 0.6,
    ...options.map(({ text }, index) => startsAlike(text, asked.options[index]!.text)),
    ...context.map((passage, index) => startsAlike(passage, asked.context[index] ?? '')),
    ...firstCells(task).map((cell) => (cells.has(cell) ? 1 : 0)),
  ]
  return parts.reduce((a, b) => a + b, 0) / parts.length
}

function startsAlike(text: string, asked: string): number {
  return text.slice(0, prefixLength) === asked.slice(0, prefixLength) ? 1 : 0
}

/** From the top, which a length budget cuts last. */
function firstCells({ tables = [] }: Task): readonly string[] {
  const cells = tables.flatMap(({ header = [], rows }) => [header, ...rows.slice(0, comparedCells)].flat())
  return cells
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .slice(0, comparedCells)
}
