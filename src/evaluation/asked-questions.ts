import { taskView } from '../execution/text.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { KnownTasks } from '../simulator/model/known-tasks.ts'
import { askedTask } from '../simulator/model/node-request.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { contractFor, contractOfRun } from '../tasks/contract-for.ts'
import type { TaskSet } from '../tasks/task-set.ts'

interface FoundTask {
  readonly task: Task
  readonly split?: string
}

/** Matches a question to a run's tasks, and gives the contract for its answer. */
export class AskedQuestions {
  readonly #folder: RunFolder
  readonly #run: RunRecord
  readonly #set: TaskSet | undefined
  readonly #byText = new Map<string, FoundTask[]>()
  #answers: KnownTasks | undefined

  /** `set`: the run's tasks, if they can be opened. */
  constructor(folder: RunFolder, run: RunRecord, set: TaskSet | undefined) {
    this.#folder = folder
    this.#run = run
    this.#set = set
    for (const [split, { tasks }] of Object.entries(set?.splits ?? {}))
      for (const task of tasks) {
        const text = task.question.trim()
        this.#byText.set(text, [...(this.#byText.get(text) ?? []), { task, split }])
      }
  }

  /** A bare question stands for the one task with exactly this text. If there are several, none is taken. */
  taskFor(given: Task): FoundTask {
    const isBare = Object.keys(given).every(
      (field) => bareFields.has(field) || given[field as keyof Task] === undefined,
    )
    const same = this.#byText.get(given.question.trim()) ?? []
    return isBare && given.id === given.question && same.length === 1 ? same[0]! : { task: given }
  }

  /** The contract that the run's tasks prescribe. */
  contractFor(task: Task): AnswerContract {
    if (this.#set !== undefined) return contractFor(this.#set, task)
    return contractOfRun(this.#folder, this.#run, task)
  }

  /** Whether the simulated model knows the answer to this task. */
  knowsAnswer(task: Task): boolean {
    if (this.#set === undefined) return false
    this.#answers ??= new KnownTasks(knownTasks(this.#set))
    return this.#answers.find(askedTask(taskView(task))) !== undefined
  }
}

const bareFields = new Set(['id', 'question', 'metadata'])
