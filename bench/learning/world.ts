import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { MemoryShelf, Once } from '../../src/execution/once.ts'
import { openToolbox } from '../../src/execution/toolbox.ts'
import { demoFamilies, demoSizes } from '../../src/experiments/demo.ts'
import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import { graphKey } from '../../src/graph/graph-key.ts'
import { embedQuestions, type TrainingQuestions } from '../../src/learning/training-questions.ts'
import type { ScoreGraph } from '../../src/learning/update.ts'
import type { Task } from '../../src/library/task.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { Call } from '../../src/models/retry.ts'
import { addUsage } from '../../src/models/usage.ts'
import { executionSettings } from '../../src/settings/execution.ts'
import { knownTasks } from '../../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { syntheticTaskSet } from '../../src/simulator/questions/synthetic-task-set.ts'
import { TaskExecutor } from '../../src/tasks/task-executor.ts'
import { splitOf, type TaskSet } from '../../src/tasks/task-set.ts'
import { evaluateGraph } from '../../src/training/evaluate-graph.ts'

/** The result of a graph on a question. */
export interface Outcome {
  readonly score: number
  readonly tokens: number
  readonly calls: number
}

export interface WorldSizes {
  readonly train: number
  readonly test: number
}

/**
 * The demo's world for one seed, with the simulated model in this process. Answers depend only on the request, so every pair of
 * graph and question runs once, whichever method asks for it; what each method has to pay is counted separately.
 */
export class LearningWorld {
  readonly seed: number
  readonly set: TaskSet
  readonly questions: TrainingQuestions
  readonly #executor: TaskExecutor
  readonly #replies = new Once<Call>(new MemoryShelf(300_000))
  readonly #outcomes = new Map<string, Promise<Outcome>>()

  private constructor(seed: number, set: TaskSet, questions: TrainingQuestions) {
    this.seed = seed
    this.set = set
    this.questions = questions
    this.#executor = new TaskExecutor({
      set,
      model: new SimulatedModel({ tasks: knownTasks(set), seed }),
      tools: openToolbox(null),
      settings: executionSettings.parse({ traceContent: false }),
      limit: new CallLimit(64),
    })
  }

  static async open(seed: number, sizes: WorldSizes = demoSizes): Promise<LearningWorld> {
    const set = syntheticTaskSet({ seed, ...sizes, families: demoFamilies })
    return new LearningWorld(seed, set, await embedQuestions(set, lexicalEncoder))
  }

  get heldOut(): readonly Task[] {
    return splitOf(this.set, 'test').tasks
  }

  outcome(graph: AgentGraph, task: Task, split: 'train' | 'test'): Promise<Outcome> {
    const key = `${graphKey(graph)} ${task.id}`
    const known = this.#outcomes.get(key) ?? this.#run(graph, task, split)
    this.#outcomes.set(key, known)
    return known
  }

  async #run(graph: AgentGraph, task: Task, split: string): Promise<Outcome> {
    const reference = splitOf(this.set, split).references.get(task.id)
    const replies = this.#replies
    const { evaluation } = await evaluateGraph(this.#executor, graph, task, reference, { replies })
    const { calls, input, output } = addUsage(evaluation.usage, evaluation.reused)
    return { score: evaluation.score, tokens: input + output, calls }
  }
}

/** The evaluations that one training may pay for. Each is free after the first time. */
export class Purse {
  readonly limit: number
  readonly #world: LearningWorld
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #paid = new Set<string>()

  constructor(world: LearningWorld, limit: number) {
    this.#world = world
    this.limit = limit
    this.#tasks = new Map(splitOf(world.set, 'train').tasks.map((task) => [task.id, task]))
  }

  get spent(): number {
    return this.#paid.size
  }

  /** Throws `PurseEmpty` if too little is left. */
  readonly evaluate: ScoreGraph = async (graph, id) => {
    const key = `${graphKey(graph)} ${id}`
    if (!this.#paid.has(key)) {
      if (this.#paid.size >= this.limit) throw new PurseEmpty()
      this.#paid.add(key)
    }
    const { score, tokens, calls } = await this.#world.outcome(graph, this.#tasks.get(id)!, 'train')
    return { score, usage: { calls, tokens } }
  }
}

export class PurseEmpty extends Error {}
