import { setImmediate } from 'node:timers/promises'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { type GraphLearner, type GraphLook, lookAt } from '../../learning/graph-learner.ts'
import type { Task } from '../../library/task.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { Layers, Network } from './network.ts'

/** A graph run on a question, with its score. */
export interface GraphLesson<Question> {
  readonly question: Question
  readonly graph: AgentGraph
  readonly score: number
}

/** A network that learns from graphs and builds them. */
export interface GraphImitator<Question> {
  readonly network: Network
  /** Prepares its input for a task. */
  read(task: Task): Promise<Question>
  /** The loss of a batch. `random` is for draws in training only; `epoch` counts from 0 in each stage. */
  loss(layers: Layers, batch: readonly GraphLesson<Question>[], random: Random, epoch: number): Tensor
  /** Builds a graph for use. */
  build(question: Question, random: Random): AgentGraph
  /** Whether an evaluated graph becomes a lesson. */
  teaches(look: GraphLook): boolean
}

export interface ImitationStage<Question> {
  /** Share of the questions that it collects lessons on. Stages split the questions in order. */
  readonly share: number
  /** The graphs to run on a question. */
  candidates(question: Question, random: Random): AgentGraph[]
  /** Share of its lessons drawn at random from earlier stages. */
  readonly replay?: number
  readonly epochs: number
  readonly learningRate: number
}

export interface ImitationOptions<Question> {
  readonly seed: number
  /** Maximum number of training questions. */
  readonly questions: number
  /** Lessons per optimizer step. */
  readonly batch: number
  readonly stages: readonly ImitationStage<Question>[]
}

/** Epochs between two checkpoints. */
const epochsInUpdate = 10

/**
 * Supervised learning from verified graphs, as in ARG-Designer, GoAgent and R-GFM. Each stage first runs candidates, one
 * question per update, then learns from the successful ones, a few epochs per update.
 */
export function imitation<Question>(
  imitator: GraphImitator<Question>,
  options: ImitationOptions<Question>,
): GraphLearner {
  const { network } = imitator
  const { seed, batch, stages } = options
  const planFor = (count: number) => planned(options, Math.min(count, options.questions))
  return {
    parameters: network.parameters,
    adam: network.adam,
    updatesFor: (count) => planFor(count).length,
    async update({ update, tasks, rounds, evaluate, mayContinue }) {
      const order = shuffled(tasks, deriveRandom(seed, 'order'))
      const plan = planFor(tasks.length)
      const step = plan[update]!
      const stage = stages[step.stage]!
      if (step.type === 'collect') {
        const task = order[step.question]!
        const random = deriveRandom(seed, 'candidates', step.stage, task.id)
        const graphs = distinct(stage.candidates(await imitator.read(task), random))
        return {
          looks: await lookAt(
            graphs.map((graph) => ({ graph, task: task.id })),
            evaluate,
          ),
          loss: 0,
        }
      }
      const lessonsOf = (number: number) =>
        rounds
          .filter((_, earlier) => plan[earlier]!.type === 'collect' && plan[earlier]!.stage === number)
          .flat()
          .filter((look) => imitator.teaches(look))
      const own = lessonsOf(step.stage)
      const earlier = stages.slice(0, step.stage).flatMap((_, number) => lessonsOf(number))
      const { replay = 0 } = stage
      const again = shuffled(earlier, deriveRandom(seed, 'replay', step.stage)).slice(
        0,
        Math.round((own.length * replay) / (1 - replay)),
      )
      const byId = new Map(tasks.map((task) => [task.id, task]))
      const lessons = await Promise.all(
        [...own, ...again].map(async ({ task, graph, score }) => ({
          question: await imitator.read(byId.get(task)!),
          graph,
          score,
        })),
      )
      let loss = 0
      for (let epoch = step.from; epoch < Math.min(step.from + epochsInUpdate, stage.epochs); epoch += 1) {
        // Each stage has its own optimizer.
        if (epoch === 0) network.restartOptimizer()
        const random = deriveRandom(seed, 'epoch', step.stage, epoch)
        const mixed = shuffled(lessons, random)
        for (let at = 0; at < mixed.length; at += batch) {
          // Lets the event loop handle signals.
          await setImmediate()
          if (!mayContinue()) return undefined
          loss = network.learn(
            (layers) => imitator.loss(layers, mixed.slice(at, at + batch), random, epoch),
            stage.learningRate,
          )
        }
      }
      return { looks: [], loss }
    },
    async graphFor(task, by = seed) {
      return imitator.build(await imitator.read(task), deriveRandom(by, 'use', task.id))
    },
  }
}

type Step =
  | { readonly type: 'collect'; readonly stage: number; readonly question: number }
  | { readonly type: 'fit'; readonly stage: number; readonly from: number }

/** All updates of a training with this many questions. */
function planned({ stages }: Pick<ImitationOptions<never>, 'stages'>, count: number): Step[] {
  let shares = 0
  return stages.flatMap(({ share, epochs }, stage) => {
    const first = Math.round(shares * count)
    shares += share
    const last = Math.round(shares * count)
    const collect = Array.from({ length: last - first }, (_, place) => ({
      ...{ type: 'collect' as const, stage, question: first + place },
    }))
    const fits = Array.from({ length: Math.ceil(epochs / epochsInUpdate) }, (_, place) => ({
      ...{ type: 'fit' as const, stage, from: place * epochsInUpdate },
    }))
    return [...collect, ...fits]
  })
}

function distinct(graphs: readonly AgentGraph[]): AgentGraph[] {
  return [...new Map(graphs.map((graph) => [graphKey(graph), graph])).values()]
}
