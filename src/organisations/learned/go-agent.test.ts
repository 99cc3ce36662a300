import { describe, expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  manyTasks,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import {
  expectTwinSteps,
  gatedFusion,
  type PlainNetwork,
  relu,
  total,
  withoutWeights,
} from '../../../test/organisations/plain-network.ts'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import {
  add,
  concat,
  dotProduct,
  exp,
  logSigmoid,
  logSoftmax,
  multiply,
  scale,
  slice,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { goAgent, goAgentImitator } from './go-agent.ts'

const dims = 5
const means = learnerMeans(dims, 6)
const open = (options: object) =>
  goAgentImitator(means, goAgent.options.parse(options) as Parameters<typeof goAgentImitator>[1])
const groupRows = await means.encoder.encode(tinyLibrary.texts.map(({ group }) => group!))
const unit = (role: string, predecessors: number[]) => ({ role, realization: 'group', predecessors }) as const

test('steps match the recipe, with bottlenecks, AdamW and gradient clipping', async () => {
  const imitator = await open({ groupWeight: 0.2, edgeWeight: 0.3 })
  const question = await imitator.read(worldTasks[1]!)
  const graph = AgentGraph.of([unit('b', []), unit('a', [0])])
  const groups = groupRows.map((row) => constant(row))
  const lossOf = (plain: PlainNetwork) => {
    const task = plain.linear('task.1', relu(plain.linear('task.0', constant(question))))
    // Noise is drawn in state order.
    const random = deriveRandom(9)
    const bottleneck = (name: string, x: Value) => {
      const noise = constant(Array.from({ length: dims }, () => random.normal()))
      const [mean, spread] = [plain.linear(`${name}.mean`, x), plain.linear(`${name}.log_variance`, x)]
      const prior = plain.linear(`${name}.prior_mean`, task)
      const around = plain.linear(`${name}.prior_log_variance`, task)
      const off = add(mean, scale(prior, -1))
      const ratio = multiply(add(exp(spread), multiply(off, off)), exp(scale(around, -1)))
      const each = add(around, scale(spread, -1), ratio, constant(new Float64Array(dims).fill(-1)))
      return { c: add(mean, multiply(exp(scale(spread, 0.5)), noise)), divergence: scale(total([each]), 0.5) }
    }
    let history: Value = constant(new Float64Array(dims))
    let state: Value | undefined
    const states: Value[] = []
    const terms: Value[] = []
    for (const [place, chosen] of [1, 0, 3].entries()) {
      if (place > 0) history = plain.gru('history', groups[[1, 0][place - 1]!]!, history)
      state = plain.gru('group', gatedFusion(history, task), state)
      states.push(state)
      const { c, divergence } = bottleneck('group.bottleneck', state)
      const logs = logSoftmax(concat(...[...groups, plain.weight('end')].map((row) => dotProduct(c, row))))
      // Epoch 5 of a warm-up of 10: half the weights.
      terms.push(scale(slice(logs, chosen, 1), -1), scale(divergence, 0.5 * 0.2))
      if (place !== 1) continue
      const joined = plain.linear('edge.1', relu(plain.linear('edge.0', concat(states[0]!, state, task))))
      const edge = bottleneck('edge.bottleneck', plain.gru('edge.gru', joined))
      terms.push(scale(logSigmoid(plain.linear('edge.out', edge.c)), -1), scale(edge.divergence, 0.5 * 0.3))
    }
    return total(terms)
  }
  const lesson = { question, graph, score: 1 }
  expectTwinSteps(imitator.network, {
    ...{ learningRate: 1e-4, clip: 1, weightDecay: 1e-3 },
    learn: () => imitator.network.learn((layers) => imitator.loss(layers, [lesson], deriveRandom(9), 5)),
    loss: lossOf,
  })
})

describe('in use', () => {
  /** Always the group b, up to two; an edge has this logit. */
  async function twice(edgeLogit: number) {
    const imitator = await open({ maxGroups: 2 })
    const { parameters } = imitator.network
    withoutWeights(parameters)
    const changed = parameters.read()
    // The bottleneck's mean is the vector of b, whose nearest neighbour is itself.
    changed.get('group.bottleneck.mean.bias')!.data.set(groupRows[1]!)
    changed.get('edge.out.bias')!.data[0] = edgeLogit
    parameters.write(changed)
    return imitator.build(await imitator.read(worldTasks[0]!), scriptedRandom(0.5))
  }

  test('with a group twice, the second hears the first, and aggregators do not mark their workers as themselves', async () => {
    const graph = await twice(10)
    const say = ({ who }: { who: string }) =>
      ({
        'b_1 0': 1,
        'b_2 0': 2,
        'b_3 0': 3,
        'b_all 0': 4,
        'b_1 1': 5,
        'b_2 1': 6,
        'b_3 1': 7,
        'b_all 1': 8,
      })[who] ?? 42
    const { calls, answer } = await runGraph(graph, say, { library: tinyLibrary })
    expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
      ['b_1 0'],
      ['b_2 0'],
      ['b_3 0'],
      ['b_all 0', 'b_1: 1', 'b_2: 2', 'b_3: 3'],
      ['b_1 1', 'b: 4'],
      ['b_2 1', 'b: 4'],
      ['b_3 1', 'b: 4'],
      ['b_all 1', 'b_1: 5', 'b_2: 6', 'b_3: 7'],
      ['finalizer', 'b: 8'],
    ])
    expect(answer).toBe('42')
  })

  test('if no edge is drawn, the likeliest one is used', async () => {
    expect((await twice(-10)).units.map(({ predecessors }) => predecessors)).toEqual([[], [0]])
  })

  test('END stops it, but only after at least one group', async () => {
    const imitator = await open({})
    const { parameters } = imitator.network
    withoutWeights(parameters)
    const changed = parameters.read()
    changed.get('group.bottleneck.mean.bias')!.data.set(groupRows[2]!)
    changed.get('end')!.data.set(groupRows[2]!.map((entry) => 2 * entry))
    parameters.write(changed)
    const graph = imitator.build(await imitator.read(worldTasks[0]!), scriptedRandom())
    expect(graph.units.map(({ role, realization }) => [role, realization])).toEqual([['c', 'group']])
  })
})

test('learns to write the graphs that solve the world: those that begin with b and contain c', async () => {
  const options = { epochs: 100, batch: 4, learningRate: 3e-3 }
  const learner = await goAgent.learner!(means, goAgent.options.parse(options))
  const { before, after } = await improvement(learner, manyTasks(12), ({ units }) =>
    Number(units[0]?.role === 'b' && units.some(({ role }) => role === 'c')),
  )
  expect(after).toBeGreaterThan(before + 0.1)
})
