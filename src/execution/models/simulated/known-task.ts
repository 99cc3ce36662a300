import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../../library/json-value.ts'
import type { Task } from '../../../library/task.ts'
import { type AnswerForm, answerKey, formOfAnswer } from './answer-form.ts'
import type { AskedTask } from './node-request.ts'
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

/** So many characters of a question find it again, though a length budget may have cut the rest. */
const prefixLength = 200
const comparedCells = 24

/**
 * The tasks that the simulated model knows, found by what a request shows of them: a request carries no task id. Tables
 * are compared cell by cell, because how a request writes a table down is the executor's matter.
 */
export class KnownTasks {
  /** SHA-256 (hex) of all that can change an answer. */
  readonly fingerprint: string
  readonly size: number
  readonly #byPrefix = new Map<string, KnownTask[]>()
  readonly #questions = new Map<KnownTask, Question>()

  constructor(tasks: Iterable<KnownTask>) {
    const hash = createHash('sha256')
    let size = 0
    for (const known of tasks) {
      const prefix = prefixOf(known.task.question)
      const same = this.#byPrefix.get(prefix)
      if (same === undefined) this.#byPrefix.set(prefix, [known])
      else same.push(known)
      hash.update(`${canonicalJson(known as unknown as JsonValue)}\n`)
      size += 1
    }
    this.size = size
    this.fingerprint = hash.digest('hex')
  }

  find(asked: AskedTask): Question | undefined {
    let best: KnownTask | undefined
    let bestLikeness = 0
    for (const known of this.#byPrefix.get(prefixOf(asked.question)) ?? []) {
      const likeness = likenessOf(known.task, asked)
      if (likeness > bestLikeness) {
        best = known
        bestLikeness = likeness
      }
    }
    return best === undefined ? undefined : this.#question(best)
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

/** 0 for another task; above it, the greater the more of it is there. */
function likenessOf(task: Task, asked: AskedTask): number {
  const options = task.options ?? []
  if (options.length !== asked.options.length) return 0
  if (options.some(({ label }, index) => label !== asked.options[index]!.label)) return 0
  const parts = [
    task.question === asked.question ? 1 : 0.5,
    ...options.map(({ text }, index) => startsAlike(text, asked.options[index]!.text)),
    ...(task.context ?? []).map((passage, index) => startsAlike(passage, asked.context[index] ?? '')),
    ...cellsOf(task).map((cell) => (asked.tables.includes(cell) ? 1 : 0)),
  ]
  const likeness = parts.reduce((a, b) => a + b, 0) / parts.length
  return likeness >= 0.5 ? likeness : 0
}

function startsAlike(text: string, asked: string): number {
  return text.slice(0, prefixLength) === asked.slice(0, prefixLength) ? 1 : 0
}

/** From the top, which a length budget cuts last. */
function cellsOf({ tables = [] }: Task): readonly string[] {
  const cells = tables.flatMap(({ header = [], rows }) => [header, ...rows.slice(0, comparedCells)].flat())
  // A request may have to write the others differently.
  return cells.filter((cell) => cell.trim() !== '' && !/[|\r\n]/.test(cell)).slice(0, comparedCells)
}
