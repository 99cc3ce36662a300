import { describe, expect, test } from 'vitest'
import { learnerMeans, manyTasks, worldTasks } from '../../../test/organisations/learning-world.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { GraphLook } from '../../learning/graph-learner.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { argDesigner, argImitator } from './arg-designer.ts'
import { goAgent, goAgentImitator } from './go-agent.ts'
import { rGfm } from './r-gfm.ts'
import { searchThenSft } from './search-then-sft.ts'

const means = learnerMeans(5, 6)

test.each([
  ['arg-designer', 'atomic', () => argImitator(means, argDesigner.options.parse({ hidden: 4 }) as never)],
  ['go-agent', 'group', () => goAgentImitator(means, goAgent.options.parse({}) as never)],
] as const)('%s: the loss of a batch is the mean over its lessons', async (_, realization, open) => {
  const imitator = await open()
  const unit = (role: string, predecessors: number[]) => ({ role, realization, predecessors })
  const graphs = [
    [unit('b', [])],
    [unit('c', []), unit('a', [0]), unit('b', [0, 1])],
    [unit('a', []), unit('b', [])],
    [unit('b', []), unit('a', [0])],
  ]
  const lessons = await Promise.all(
    graphs.map(async (units, at) => ({
      ...{ question: await imitator.read(worldTasks[at]!), graph: AgentGraph.of(units), score: 1 },
    })),
  )
  const lossOf = (batch: typeof lessons, random: Random) =>
    imitator.network.run((layers) => layers.values(imitator.loss(layers, batch, random, 7))[0]!)
  const random = deriveRandom(3)
  const alone = lessons.map((lesson) => lossOf([lesson], random))
  const mean = alone.reduce((sum, loss) => sum + loss) / lessons.length
  expect(lossOf(lessons, deriveRandom(3))).toBeCloseTo(mean, 5)
})

describe('a signal is honoured between two optimizer steps', () => {
  test.each([
    [argDesigner, { hidden: 4, epochs: 10, batch: 1 }],
    [goAgent, { epochs: 10, batch: 1 }],
    [rGfm, { hidden: 4, epochs: 10, batch: 1 }],
    [searchThenSft, { hidden: 4, passes: 1, stages: 1 }],
  ])('%o', async (definition, options) => {
    const learner = await definition.learner!(means, definition.options.parse(options))
    const tasks = manyTasks(8)
    const rounds: (readonly GraphLook[])[] = []
    const evaluate = async () => ({ score: 1 })
    let asked = 0
    // The third step is not taken.
    const mayContinue = () => {
      asked += 1
      return asked < 3
    }
    for (let update = 0; ; update += 1) {
      const learned = await learner.update({ update, tasks, rounds, evaluate, mayContinue })
      if (learned === undefined) break
      rounds.push(learned.looks)
    }
    expect(asked).toBe(3)
    expect(learner.adam.read().step).toBe(2)
  })
})
