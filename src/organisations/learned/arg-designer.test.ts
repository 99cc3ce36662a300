import { expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  manyTasks,
  roleVectors,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import {
  expectTwinSteps,
  gatedFusion,
  log,
  minus,
  type PlainNetwork,
  relu,
  total,
  withoutWeights,
} from '../../../test/organisations/plain-network.ts'
import { atomic, tinyLibrary } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { add, concat, dotProduct, scale, sigmoid, slice, softmax } from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { argDesigner, argImitator } from './arg-designer.ts'

const means = learnerMeans(5, 6)
const open = (options: object) =>
  argImitator(means, argDesigner.options.parse(options) as Parameters<typeof argImitator>[1])
const roles = (await roleVectors(means)).map((row) => constant(row))

test('steps match the recipe', async () => {
  const imitator = await open({ hidden: 4 })
  const question = await imitator.read(worldTasks[0]!)
  // c; then a, which hears c; then b, which hears a but not c.
  const graph = AgentGraph.of([atomic('c', []), atomic('a', [0]), atomic('b', [1])], 'summarizer-of-all')
  const nodes = [2, 0, 1]
  const end = 3
  const bits = [[], [1], [0, 1]]
  const lossOf = (plain: PlainNetwork) => {
    const task = plain.linear('task.1', relu(plain.linear('task.0', constant(question))))
    let history: Value = constant(new Float64Array(means.encoder.dims))
    let node: Value | undefined
    const nodeTerms: Value[] = []
    const edgeTerms: Value[] = []
    for (const [place, chosen] of [...nodes, end].entries()) {
      if (place > 0) history = plain.gru('history', roles[nodes[place - 1]!]!, history)
      node = plain.gru('node', gatedFusion(history, task), node)
      const out = plain.linear('node.out', node)
      const p = softmax(concat(...[...roles, plain.weight('end')].map((row) => dotProduct(out, row))))
      for (let entry = 0; entry <= end; entry += 1) {
        const one = slice(p, entry, 1)
        nodeTerms.push(log(entry === chosen ? one : minus(one)))
      }
      let walk: Value = node
      for (const [earlier, bit] of (bits[place] ?? []).entries()) {
        const before = earlier === 0 ? 0 : bits[place]![earlier - 1]!
        walk = plain.gru('edge', concat(roles[nodes[earlier]!]!, constant([before])), walk)
        const probability = sigmoid(plain.linear('edge.out', walk))
        edgeTerms.push(log(bit ? probability : minus(probability)))
      }
    }
    expect([nodeTerms.length, edgeTerms.length]).toEqual([16, 3])
    return add(scale(total(nodeTerms), -0.2 / 16), scale(total(edgeTerms), -0.8 / 3))
  }
  const lesson = { question, graph, score: 1 }
  expectTwinSteps(imitator.network, {
    learningRate: 8e-5,
    learn: () => imitator.network.learn((layers) => imitator.loss(layers, [lesson], deriveRandom(1), 0)),
    loss: lossOf,
  })
})

test('in use: draws roles until END, then which earlier ones each hears; the decision hears all', async () => {
  const imitator = await open({ hidden: 4, minNodes: 2, maxNodes: 4 })
  withoutWeights(imitator.network.parameters)
  const question = await imitator.read(worldTasks[0]!)
  // Without weights all choices are equally likely. END is not allowed at first: 0.5 of three is b. 0.9 of
  // three is c, which hears b (0.4). Then END is one of four: 0.1 is a, which hears c (0.2) but not b (0.7);
  // 0.8 is END.
  const graph = imitator.build(question, scriptedRandom(0.5, 0.9, 0.4, 0.1, 0.7, 0.2, 0.8))
  const say = ({ who }: { who: string }) => ({ a: 5, b: 6, c: 7 })[who] ?? 42
  const { calls, answer } = await runGraph(graph, say, { library: tinyLibrary })
  expect(calls.map(({ who, hears }) => [who, ...hears.toSorted()])).toEqual([
    ['b'],
    ['c', 'b: 6'],
    ['a', 'c: 7'],
    ['finalizer', 'a: 5', 'b: 6', 'c: 7'],
  ])
  expect(answer).toBe('42')
  // At the maximum number of nodes END is not drawn.
  const longest = imitator.build(question, scriptedRandom(0, 0, 0.9, 0, 0.9, 0.9, 0, 0.9, 0.9, 0.9))
  expect(longest.units.map(({ role, agent }) => [role, agent])).toEqual(
    [0, 1, 2, 3].map((agent) => ['a', agent]),
  )
})

test('learns to write the graphs that solve the world: those that begin with b and contain c', async () => {
  const options = { hidden: 16, epochs: 60, firstRate: 3e-3, secondRate: 1e-3 }
  const learner = await argDesigner.learner!(means, argDesigner.options.parse(options))
  const { before, after } = await improvement(learner, manyTasks(12), ({ units }) =>
    Number(units[0]?.role === 'b' && units.some(({ role }) => role === 'c')),
  )
  expect(after).toBeGreaterThan(before + 0.1)
})
