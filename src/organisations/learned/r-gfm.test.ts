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
  mixed,
  type PlainNetwork,
  relu,
  withoutWeights,
} from '../../../test/organisations/plain-network.ts'
import { atomic, tinyLibrary } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import {
  add,
  dotProduct,
  logSigmoid,
  multiply,
  scale,
  slice,
  softmax,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { rGfm, rgfmImitator } from './r-gfm.ts'

const means = learnerMeans(5, 6)
const open = (options: object) =>
  rgfmImitator(means, rGfm.options.parse(options) as Parameters<typeof rgfmImitator>[1])
const roles = await roleVectors(means)

test('steps match the recipe', async () => {
  const imitator = await open({ hidden: 4, experts: 2 })
  const question = await imitator.read(worldTasks[2]!)
  const graph = AgentGraph.of([atomic('a', []), atomic('c', [0])])
  const lossOf = (plain: PlainNetwork) => {
    const x = [constant(roles[0]!), constant(roles[2]!)]
    // Two joined nodes: D^−½ (A + I) D^−½.
    const joined = [
      [0.5, 0.5],
      [0.5, 0.5],
    ]
    const layer = (name: string, rows: readonly Value[]) =>
      mixed(
        joined,
        rows.map((row) => plain.linear(name, row)),
      )
    const gate = softmax(plain.linear('gate', constant(question)))
    const encodings = [0, 1].map((expert) => {
      const [first, second] = layer(`expert.${expert}.1`, layer(`expert.${expert}.0`, x).map(relu))
      return multiply(slice(gate, expert, 1), scale(add(first!, second!), 0.5))
    })
    const logit = dotProduct(add(encodings[0]!, encodings[1]!), plain.linear('question', constant(question)))
    // Cross-entropy with a score of 0.75.
    return add(scale(logSigmoid(logit), -0.75), scale(logSigmoid(scale(logit, -1)), -0.25))
  }
  const lesson = { question, graph, score: 0.75 }
  expectTwinSteps(imitator.network, {
    learningRate: 1e-3,
    learn: () => imitator.network.learn((layers) => imitator.loss(layers, [lesson], deriveRandom(1), 0)),
    loss: lossOf,
  })
})

test('in use: draws subgraphs around the best-matching role and runs the highest-scoring one', async () => {
  const imitator = await open({ hidden: 4, candidates: 2, hops: 1, maxAgents: 3 })
  // A question that reads like b.
  const question = roles[1]!
  // Two subgraphs of one hop. First: neither a nor c. Second: a but not c; a→b is drawn, and b→a would close
  // a cycle.
  const script = [0.9, 0.9, 0.1, 0.9, 0.1]
  const candidates = imitator.subgraphs(question, scriptedRandom(...script))
  expect(
    candidates.map(({ units }) => units.map(({ role, predecessors }) => [role, ...predecessors])),
  ).toEqual([[['b']], [['a'], ['b', 0]]])
  const scores = imitator.scores(question, candidates)
  const best = scores[1]! > scores[0]! ? 1 : 0
  const built = imitator.build(question, scriptedRandom(...script))
  expect(built.toJSON()).toEqual(candidates[best]!.toJSON())
  // Without weights all scores are equal, and the first is run.
  withoutWeights(imitator.network.parameters)
  expect(imitator.build(question, scriptedRandom(...script)).size).toBe(1)
  const say = ({ who }: { who: string }) => ({ a: 5, b: 6 })[who] ?? 42
  const { calls, answer } = await runGraph(candidates[1]!, say, { library: tinyLibrary })
  expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
    ['a'],
    ['b', 'a: 5'],
    ['finalizer', 'b: 6'],
  ])
  expect(answer).toBe('42')
})

test('learns to pick the graphs that solve the world: those that begin with b and contain c', async () => {
  const learner = await rGfm.learner!(
    means,
    rGfm.options.parse({ epochs: 60, hidden: 8, learningRate: 1e-2 }),
  )
  const { before, after } = await improvement(learner, manyTasks(12), ({ units }) =>
    Number(units[0]?.role === 'b' && units.some(({ role }) => role === 'c')),
  )
  expect(after).toBeGreaterThan(before + 0.1)
})
