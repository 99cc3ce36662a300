import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { GraphLearner, GraphLook } from '../../learning/graph-learner.ts'
import { drawCandidates } from '../../learning/search/candidates.ts'
import {
  demonstrationGroup,
  imitationDropout,
  imitationWeights,
} from '../../learning/search/demonstration.ts'
import { demonstrationAt, type GraphPool, searchQuestion } from '../../learning/search/pool.ts'
import { untrainedLearner } from '../../learning/untrained-policy.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constructGraphs } from '../../policy/construction.ts'
import { trainingSettings } from '../../settings/training.ts'
import type { LearnerMeans } from '../organisation.ts'
import { questionVector } from './agents.ts'
import { defineLearner } from './define-learner.ts'

const options = z.object({
  passes: z.int().min(1).default(5).describe('Search batches per training question.'),
  stages: z.int().min(1).default(5).describe('Epochs of imitation, spread evenly over the search.'),
  hidden: z.int().min(1).default(256).describe('Width of the policy network.'),
  maxUnits: z.int().min(1).max(16).default(3).describe('Maximum number of units.'),
  maxDepth: z.int().min(1).default(4).describe('Maximum number of agents on a path through a graph.'),
  learningRate: z.number().positive().default(1e-4).describe('Learning rate of Adam.'),
})

/** Searches graphs without the policy; at regular intervals, the policy learns to imitate the best of each question. */
export async function searchLearner(
  { library, encoder, seed }: LearnerMeans,
  { passes, stages, ...dimensions }: z.output<typeof options>,
): Promise<GraphLearner> {
  const { divergence: divergenceWeight, entropy: entropyWeight } = imitationWeights
  const settings = trainingSettings.parse({ seed, divergenceWeight, entropyWeight, ...dimensions })
  const learner = await untrainedLearner(library, settings, encoder)
  const { policy, parameters, adam } = learner
  const space = policy.space('mixed')
  return {
    parameters,
    adam,
    updatesFor: (questions) => passes * questions,
    async update({ update, tasks, rounds, evaluate, mayContinue }) {
      const at = update % tasks.length
      const { id } = tasks[at]!
      const visit = Math.floor(update / tasks.length)
      const pools = tasks.map((_, question) => poolOf(rounds, question, tasks.length))
      const { graphs } = drawCandidates(space, deriveRandom(seed, 'search', id, visit))
      const looks = new Map<string, GraphLook>()
      const { asked } = await searchQuestion(pools[at]!, graphs, async (graph) => {
        const score = await evaluate(graph, id)
        looks.set(graphKey(graph), { graph, task: id, ...score })
        return score.score
      })
      // A stage ends with the batch that reaches its share of the search.
      const batches = passes * tasks.length
      const reached = (batch: number) => Math.floor((stages * batch) / batches)
      let loss = 0
      for (let stage = reached(update) + 1; stage <= reached(update + 1); stage += 1)
        for (const [question, pool] of pools.entries()) {
          const lesson = demonstrationAt(pool, stage)
          if (lesson === undefined) continue
          // Lets the event loop handle signals.
          await setImmediate()
          if (!mayContinue()) return undefined
          const task = tasks[question]!
          const dropout = imitationDropout(policy, { seed, stage, question: task.id })
          const group = demonstrationGroup(await questionVector(task, encoder), lesson.graph, dropout)
          loss = learner.update(group).loss
        }
      return { looks: asked.map(({ key }) => looks.get(key)!), loss }
    },
    async graphFor(task, by = seed): Promise<AgentGraph> {
      const query = await questionVector(task, encoder)
      const random = deriveRandom(by, 'inference', task.id)
      const job = { query, random, restriction: 'mixed', temperature: 1, dropout: false } as const
      return constructGraphs(policy, [job])[0]!.graph
    },
  }
}

/** Every graph scored on a question so far, in order of first appearance. */
function poolOf(rounds: readonly (readonly GraphLook[])[], question: number, questions: number): GraphPool {
  const pool: GraphPool = new Map()
  for (let update = question; update < rounds.length; update += questions)
    for (const { graph, score } of rounds[update]!) {
      const key = graphKey(graph)
      if (!pool.has(key)) pool.set(key, { key, graph, score })
    }
  return pool
}

export const searchThenSft = defineLearner({
  name: 'search-then-sft',
  category: 'route',
  description: 'The policy, taught the best graphs that a search without it has found for each question.',
  fidelity: 'paper',
  source: 'MAGIC, appendix C.5 (the other route of Q3)',
  differences: [
    'Stages are equal shares of the search, not of money: `magic experiment q3` counts money.',
    'The policy reads the question without the names of data set, roles and tools.',
  ],
  options,
  learner: searchLearner,
})
