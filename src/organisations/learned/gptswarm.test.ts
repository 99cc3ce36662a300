import { expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import { expectTwinSteps } from '../../../test/organisations/plain-network.ts'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { add, logSigmoid, scale, slice } from '../../numerics/plain/operations.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { gptswarm, swarmSampler } from './gptswarm.ts'

const means = learnerMeans(6, 3)
const open = () => swarmSampler(means, { agents: 3, learningRate: 0.1 })

test('steps match the recipe', () => {
  const sampler = open()
  const { network } = sampler
  // p = 0.5 everywhere at first; six pairs of three agents, and three edges to the final node.
  expect([...network.parameters.read().get('edge_logits')!.data]).toEqual(new Array(9).fill(0))
  const batch = [1, 0.5].map((utility, at) => ({
    ...{ question: null, utility, drawn: sampler.draw(null, deriveRandom(5, at)) },
  }))
  expectTwinSteps(network, {
    learningRate: 0.1,
    learn: () => network.learn((layers) => sampler.loss(layers, batch)),
    // −ln p · utility over the tried edges, averaged over the batch.
    loss: (plain) =>
      batch
        .flatMap(({ drawn: { tried, chosen }, utility }) =>
          tried.map((pair, at) => {
            const logit = slice(plain.weight('edge_logits'), pair, 1)
            return scale(logSigmoid(scale(logit, chosen[at] ? 1 : -1)), -utility / 2)
          }),
        )
        .reduce((sum, term) => add(sum, term)),
  })
})

test('an edge that would close a cycle is not tried', () => {
  // a→b, a→c, then b→a would close a cycle; b→c; c→a and c→b would too; all three to the final node.
  const drawn = open().draw(null, scriptedRandom(...new Array<number>(6).fill(0)))
  expect(drawn.tried).toEqual([0, 1, 3, 6, 7, 8])
  expect(drawn.graph.units.map(({ role, predecessors }) => [role, ...predecessors])).toEqual([
    ['a'],
    ['b', 0],
    ['c', 0, 1],
    ['solver', 0, 1, 2],
  ])
})

test('in use: one graph of edges with p > 0.5 for all questions; agents that cannot reach the final node are skipped', async () => {
  const learner = await gptswarm.learner!(means, gptswarm.options.parse({ agents: 3 }))
  const use = async (...logits: number[]) => {
    const data = Float32Array.from(logits)
    learner.parameters.write(new Map([['edge_logits', { shape: [9, 1], data }]]))
    const [graph, again] = await Promise.all(worldTasks.map((task) => learner.graphFor(task)))
    expect(again).toEqual(graph)
    return runGraph(graph!, ({ who }) => ({ b: 7, c: 8, solver: 42 })[who] ?? 6, { library: tinyLibrary })
  }
  // a→b, a→c, b→a, b→c, c→a, c→b; a→final, b→final, c→final.
  const { calls, answer, execution } = await use(0, -1, -1, 2, -1, -1, -1, 0.1, 3)
  expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
    ['b'],
    ['c', 'b: 7'],
    ['solver', 'b: 7', 'c: 8'],
  ])
  expect(answer).toBe('42')
  expect(execution.usage.calls).toBe(3)
  // At p = 0.5 no edge is kept: the final node is alone.
  expect((await use(...new Array<number>(9).fill(0))).calls.map(({ who }) => who)).toEqual(['solver'])
})

test('learns that the world pays when b hears a', async () => {
  const learner = await gptswarm.learner!(means, gptswarm.options.parse({ agents: 3, iterations: 60 }))
  const { before, after } = await improvement(learner, worldTasks, ({ units }) =>
    Number(
      units.some(
        ({ role, predecessors }) => role === 'b' && predecessors.some((one) => units[one]!.role === 'a'),
      ),
    ),
  )
  expect([before, after]).toEqual([0, 1])
})
