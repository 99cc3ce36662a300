import { taskView } from '../execution/text.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { knownTasks } from '../simulator/model/known-task.ts'
import { KnownTasks } from '../simulator/model/known-tasks.ts'
import { askedTask } from '../simulator/model/node-request.ts'
import type { RunRecord } from '../store/run-folder.ts'
import { contractFor, recordedContract } from '../tasks/contract-for.ts'
import type { TaskSet } from '../tasks/task-set.ts'

interface FoundTask {
  readonly task: Task
  readonly split?: string
}

/** What a run tells about a question that somebody asks: which of its tasks it is, and what the answer looks like. */
export class AskedQuestions {
  readonly #run: RunRecord
  readonly #set: TaskSet | undefined
  readonly #byText = new Map<string, FoundTask[]>()
  #answers: KnownTasks | undefined

  /** `set`: the run's tasks, where they can be opened. */
  constructor(run: RunRecord, set: TaskSet | undefined) {
    this.#run = run
    this.#set = set
    for (const [split, { tasks }] of Object.entries(set?.splits ?? {}))
      for (const task of tasks) {
        const text = task.question.trim()
        this.#byText.set(text, [...(this.#byText.get(text) ?? []), { task, split }])
      }
  }

  /** A bare question stands for the task of the set that asks exactly this. Where several do, none is meant. */
  taskFor(given: Task): FoundTask {
    const isBare = Object.keys(given).every(
      (field) => bareFields.has(field) || given[field as keyof Task] === undefined,
    )
    const same = this.#byText.get(given.question.trim()) ?? []
    return isBare && given.id === given.question && same.length === 1 ? same[0]! : { task: given }
  }

  /** As the run's tasks ask for it. */
  contractFor(task: Task): AnswerContract {
    if (this.#set !== undefined) return contractFor(this.#set, task)
    return recordedContract(Object.keys(this.#run.executors), task)
  }

  /** Whether the simulated model can tell right from wrong here. */
  knowsAnswer(task: Task): boolean {
    if (this.#set === undefined) return false
    this.#answers ??= new KnownTasks(knownTasks(this.#set))
    return this.#answers.find(askedTask(taskView(task))) !== undefined
  }
}

const bareFields = new Set(['id', 'question', 'metadata'])
