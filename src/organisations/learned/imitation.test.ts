import { describe, expect, test } from 'vitest'
import { narrowEncoder } from '../../../test/narrow-encoder.ts'
import { expectWeights, log, minus, mixed, PlainNetwork, relu, total } from '../../../test/plain-network.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { GraphLook } from '../../learning/graph-learner.ts'
import type { Task } from '../../library/task.ts'
import {
  add,
  concat,
  dotProduct,
  exp,
  logSigmoid,
  logSoftmax,
  multiply,
  scale,
  sigmoid,
  slice,
  softmax,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { argDesigner, argImitator } from './arg-designer.ts'
import { goAgent, goAgentImitator } from './go-agent.ts'
import { rGfm, rgfmImitator } from './r-gfm.ts'

const dims = 5
const encoder = narrowEncoder(dims)
const means = { library: tinyLibrary, profile: tinyProfile, encoder, seed: 6 }
const tasks: Task[] = ['How many apples?', 'Which town is it?', 'What is the sum?', 'Who was it?'].map(
  (question, at) => ({ id: `task-${at}`, question, metadata: {} }),
)
const unit = (role: string, predecessors: number[], realization: 'atomic' | 'group' = 'atomic') => ({
  ...{ role, realization, predecessors },
})

/** g = σ(h·t/d), (1 − g)h + g·t */
function fused(history: Value, task: Value): Value {
  const gate = sigmoid(scale(dotProduct(history, task), 1 / dims))
  return add(multiply(minus(gate), history), multiply(gate, task))
}

test('ARG-Designer: one update is what the recipe says', async () => {
  const options = argDesigner.options.parse({ hidden: 4 }) as Parameters<typeof argImitator>[1]
  const imitator = await argImitator(means, options)
  const question = await imitator.read(tasks[0]!)
  // c; then a, which hears c; then b, which hears a and not c.
  const graph = AgentGraph.of([unit('c', []), unit('a', [0]), unit('b', [1])], 'summarizer-of-all')
  const plain = new PlainNetwork(imitator.network.parameters)
  const roles = (await encoder.encode(tinyLibrary.texts.map(({ role, atomic }) => `${role}\n${atomic}`))).map(
    (row) => constant(row),
  )
  const task = plain.linear('task.1', relu(plain.linear('task.0', constant(question))))
  let history: Value = constant(new Float64Array(dims))
  let node: Value | undefined
  const nodeTerms: Value[] = []
  const edgeTerms: Value[] = []
  const bits = [[], [1], [0, 1]]
  const end = 3
  for (const [place, chosen] of [2, 0, 1, end].entries()) {
    if (place > 0) history = plain.gru('history', roles[[2, 0, 1][place - 1]!]!, history)
    node = plain.gru('node', fused(history, task), node)
    const out = plain.linear('node.out', node)
    const p = softmax(concat(...[...roles, plain.weight('end')].map((row) => dotProduct(out, row))))
    for (let entry = 0; entry <= end; entry += 1) {
      const one = slice(p, entry, 1)
      nodeTerms.push(log(entry === chosen ? one : minus(one)))
    }
    let walk: Value = node
    for (const [earlier, bit] of (bits[place] ?? []).entries()) {
      const before = earlier === 0 ? 0 : bits[place]![earlier - 1]!
      walk = plain.gru('edge', concat(roles[[2, 0, 1][earlier]!]!, constant([before])), walk)
      const probability = sigmoid(plain.linear('edge.out', walk))
      edgeTerms.push(log(bit ? probability : minus(probability)))
    }
  }
  expect([nodeTerms.length, edgeTerms.length]).toEqual([16, 3])
  const loss = add(scale(total(nodeTerms), -0.2 / 16), scale(total(edgeTerms), -0.8 / 3))
  const expected = plain.step(loss, { learningRate: 8e-5 })
  const learned = imitator.network.learn((layers) =>
    imitator.loss(layers, [{ question, graph, score: 1 }], deriveRandom(1), 0),
  )
  expect(learned).toBeCloseTo(loss.number, 5)
  expectWeights(imitator.network.parameters, expected, 8e-5)
})

test('GoAgent: one update is what the recipe says, with bottlenecks, AdamW and a short gradient', async () => {
  const options = goAgent.options.parse({ groupWeight: 0.2, edgeWeight: 0.3 }) as Parameters<
    typeof goAgentImitator
  >[1]
  const imitator = await goAgentImitator(means, options)
  const question = await imitator.read(tasks[1]!)
  const graph = AgentGraph.of([unit('b', [], 'group'), unit('a', [0], 'group')])
  const plain = new PlainNetwork(imitator.network.parameters)
  const groups = (await encoder.encode(tinyLibrary.texts.map(({ group }) => group!))).map((row) =>
    constant(row),
  )
  const task = plain.linear('task.1', relu(plain.linear('task.0', constant(question))))
  // Drawn in the order of the states.
  const random = deriveRandom(9)
  const bottleneck = (name: string, x: Value) => {
    const noise = constant(Array.from({ length: dims }, () => random.normal()))
    const [mean, spread] = [plain.linear(`${name}.mean`, x), plain.linear(`${name}.log_variance`, x)]
    const [prior, around] = [
      plain.linear(`${name}.prior_mean`, task),
      plain.linear(`${name}.prior_log_variance`, task),
    ]
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
    state = plain.gru('group', fused(history, task), state)
    states.push(state)
    const { c, divergence } = bottleneck('group.bottleneck', state)
    const logs = logSoftmax(concat(...[...groups, plain.weight('end')].map((row) => dotProduct(c, row))))
    // Epoch 5 of a warm-up of 10: half of the weights.
    terms.push(scale(slice(logs, chosen, 1), -1), scale(divergence, 0.5 * 0.2))
    if (place !== 1) continue
    const joined = plain.linear('edge.1', relu(plain.linear('edge.0', concat(states[0]!, state, task))))
    const edge = bottleneck('edge.bottleneck', plain.gru('edge.gru', joined))
    terms.push(scale(logSigmoid(plain.linear('edge.out', edge.c)), -1), scale(edge.divergence, 0.5 * 0.3))
  }
  const loss = total(terms)
  const expected = plain.step(loss, { learningRate: 1e-4, clip: 1, weightDecay: 1e-3 })
  const learned = imitator.network.learn((layers) =>
    imitator.loss(layers, [{ question, graph, score: 1 }], deriveRandom(9), 5),
  )
  expect(learned).toBeCloseTo(loss.number, 4)
  expectWeights(imitator.network.parameters, expected, 1e-4)
})

test.each([
  ['arg-designer', 'atomic', () => argImitator(means, argDesigner.options.parse({ hidden: 4 }) as never)],
  ['go-agent', 'group', () => goAgentImitator(means, goAgent.options.parse({}) as never)],
] as const)('%s: the loss of a batch is the mean of its lessons’ losses', async (_, realization, open) => {
  const imitator = await open()
  const graphs = [
    [unit('b', [], realization)],
    [unit('c', [], realization), unit('a', [0], realization), unit('b', [0, 1], realization)],
    [unit('a', [], realization), unit('b', [], realization)],
    [unit('b', [], realization), unit('a', [0], realization)],
  ]
  const lessons = await Promise.all(
    graphs.map(async (units, at) => ({
      ...{ question: await imitator.read(tasks[at]!), graph: AgentGraph.of(units), score: 1 },
    })),
  )
  const lossOf = (batch: typeof lessons, random: Random) =>
    imitator.network.run((layers) => layers.values(imitator.loss(layers, batch, random, 7))[0]!)
  const random = deriveRandom(3)
  const alone = lessons.map((lesson) => lossOf([lesson], random))
  const mean = alone.reduce((sum, loss) => sum + loss) / lessons.length
  expect(lossOf(lessons, deriveRandom(3))).toBeCloseTo(mean, 5)
})

test('R-GFM: one update is what the recipe says', async () => {
  const options = rGfm.options.parse({ hidden: 4, experts: 2 }) as Parameters<typeof rgfmImitator>[1]
  const imitator = await rgfmImitator(means, options)
  const question = await imitator.read(tasks[2]!)
  const graph = AgentGraph.of([unit('a', []), unit('c', [0])])
  const plain = new PlainNetwork(imitator.network.parameters)
  const roles = await encoder.encode(tinyLibrary.texts.map(({ role, atomic }) => `${role}\n${atomic}`))
  const x = [constant(roles[0]!), constant(roles[2]!)]
  const joined = [
    [0.5, 0.5],
    [0.5, 0.5],
  ]
  const gate = softmax(plain.linear('gate', constant(question)))
  const layer = (name: string, rows: readonly Value[]) =>
    mixed(
      joined,
      rows.map((row) => plain.linear(name, row)),
    )
  const encodings = [0, 1].map((expert) => {
    const [first, second] = layer(`expert.${expert}.1`, layer(`expert.${expert}.0`, x).map(relu))
    return multiply(slice(gate, expert, 1), scale(add(first!, second!), 0.5))
  })
  const logit = dotProduct(add(encodings[0]!, encodings[1]!), plain.linear('question', constant(question)))
  const loss = add(scale(logSigmoid(logit), -0.75), scale(logSigmoid(scale(logit, -1)), -0.25))
  const expected = plain.step(loss, { learningRate: 1e-3 })
  const learned = imitator.network.learn((layers) =>
    imitator.loss(layers, [{ question, graph, score: 0.75 }], deriveRandom(1), 0),
  )
  expect(learned).toBeCloseTo(loss.number, 5)
  expectWeights(imitator.network.parameters, expected, 1e-3)
})

describe('on a small world each learns what solves questions there', () => {
  /** Solved by graphs that begin with b and have c in them. */
  const worth = ({ units }: AgentGraph) =>
    Number(units[0]?.role === 'b' && units.some(({ role }) => role === 'c'))
  const definitions = [
    [argDesigner, { hidden: 16, epochs: 60, firstRate: 3e-3, secondRate: 1e-3 }],
    [goAgent, { epochs: 100, batch: 4, learningRate: 3e-3 }],
    [rGfm, { epochs: 60, hidden: 8, learningRate: 1e-2 }],
  ] as const
  test.each(definitions.map(([definition, options]) => [definition.name, definition, options] as const))(
    '%s',
    async (_, definition, options) => {
      const learner = await definition.learner!(means, definition.options.parse(options) as never)
      const many = Array.from({ length: 12 }, (__, at) => ({ ...tasks[at % 4]!, id: `task-${at}` }))
      const meanWorth = async () => {
        let sum = 0
        for (let at = 0; at < 60; at += 1)
          sum += worth(await learner.graphFor({ ...tasks[at % 4]!, id: `use-${at}` }))
        return sum / 60
      }
      const before = await meanWorth()
      const rounds: (readonly GraphLook[])[] = []
      for (let update = 0; update < learner.updatesFor(many.length); update += 1) {
        const evaluate = async (graph: AgentGraph) => ({ score: worth(graph) })
        rounds.push((await learner.update({ update, tasks: many, rounds, evaluate })).looks)
      }
      expect(await meanWorth()).toBeGreaterThan(before + 0.1)
    },
  )
})
