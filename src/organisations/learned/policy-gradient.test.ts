import { describe, expect, test } from 'vitest'
import { narrowEncoder } from '../../../test/narrow-encoder.ts'
import {
  entrywise,
  expectWeights,
  log,
  minus,
  mixed,
  PlainNetwork,
  relu,
} from '../../../test/plain-network.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Task } from '../../library/task.ts'
import {
  add,
  concat,
  dotProduct,
  linear,
  logSigmoid,
  logSoftmax,
  multiply,
  scale,
  sigmoid,
  slice,
  softmax,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { eibLearner, eibSampler } from './eib-learner.ts'
import { gDesigner, releasedDesigner } from './g-designer.ts'
import { gptswarm, swarmSampler } from './gptswarm.ts'
import { masRouter } from './mas-router.ts'
import type { GraphSampler, Rollout } from './policy-gradient.ts'

const encoder = narrowEncoder(6)
const means = { library: tinyLibrary, profile: tinyProfile, encoder, seed: 3 }
const tasks: Task[] = ['How many apples?', 'Which town is it?', 'What is the sum?', 'Who was it?'].map(
  (question, at) => ({ id: `task-${at}`, question, metadata: {} }),
)

/** Two questions with the graphs that are drawn for them, one of utility 1 and one of 0.5. */
async function rollouts<Question, Drawn extends { readonly graph: AgentGraph }>(
  sampler: GraphSampler<Question, Drawn>,
): Promise<Rollout<Question, Drawn>[]> {
  return Promise.all(
    tasks.slice(0, 2).map(async (task, at) => {
      const question = await sampler.read(task)
      return { question, drawn: sampler.draw(question, deriveRandom(5, at)), utility: 1 - at / 2 }
    }),
  )
}

/** −ln p · utility over tried edges, averaged over the batch. */
function edgeLoss(
  batch: readonly {
    readonly tried: readonly number[]
    readonly chosen: readonly boolean[]
    readonly utility: number
    readonly logit: (pair: number) => Value
  }[],
): Value {
  return batch
    .flatMap(({ tried, chosen, utility, logit }) =>
      tried.map((pair, at) =>
        scale(logSigmoid(scale(logit(pair), chosen[at] ? 1 : -1)), -utility / batch.length),
      ),
    )
    .reduce((sum, term) => add(sum, term))
}

test('GPTSwarm: one update is what the recipe says', async () => {
  const sampler = swarmSampler(means, { agents: 3, learningRate: 0.1 })
  // p = 0.5 everywhere at first; six pairs of three agents, and three edges to the final node.
  expect([...sampler.network.parameters.read().get('edge_logits')!.data]).toEqual(new Array(9).fill(0))
  const batch = await rollouts(sampler)
  const plain = new PlainNetwork(sampler.network.parameters)
  const loss = edgeLoss(
    batch.map(({ drawn: { tried, chosen }, utility }) => ({
      ...{ tried, chosen, utility },
      logit: (pair: number) => slice(plain.weight('edge_logits'), pair, 1),
    })),
  )
  const expected = plain.step(loss, { learningRate: 0.1 })
  expect(sampler.network.learn((layers) => sampler.loss(layers, batch))).toBeCloseTo(loss.number, 5)
  expectWeights(sampler.network.parameters, expected, 0.1)
})

test('GPTSwarm: an edge that would close a cycle is not tried, and the final node hears whom it is joined to', () => {
  const sampler = swarmSampler(means, { agents: 3, learningRate: 0.1 })
  const drawn = sampler.draw(null, { uniform: () => 0, normal: () => 0 })
  // a→b, a→c, then b→a would close a cycle; b→c; c→a and c→b would; all three to the final node.
  expect(drawn.tried).toEqual([0, 1, 3, 6, 7, 8])
  expect(drawn.graph.toJSON()).toEqual({
    finalizer: 'last',
    units: [
      { role: 'a', realization: 'atomic', predecessors: [] },
      { role: 'b', realization: 'atomic', predecessors: [0] },
      { role: 'c', realization: 'atomic', predecessors: [0, 1] },
      { role: 'solver', realization: 'atomic', predecessors: [0, 1, 2] },
    ],
  })
  // p > 0.5 is kept in use: nothing at first.
  expect(sampler.use!(null).units).toEqual([{ role: 'solver', realization: 'atomic', predecessors: [] }])
})

test('G-Designer as released: one update is what the recipe says, and only the convolution moves', async () => {
  const sampler = await releasedDesigner(means, { agents: 3, learningRate: 0.1 })
  const batch = await rollouts(sampler)
  const plain = new PlainNetwork(sampler.network.parameters)
  const roles = await encoder.encode(tinyLibrary.texts.map(({ role, atomic }) => `${role}\n${atomic}`))
  // A path of three: D^−½ (A + I) D^−½ by hand.
  const half = Math.sqrt(1 / 6)
  const path = [
    [1 / 2, half, 0],
    [half, 1 / 3, half],
    [0, half, 1 / 2],
  ]
  const convolved = (name: string, rows: readonly Value[]) =>
    mixed(
      path,
      rows.map((row) => linear(plain.weight(`${name}.weight`), row)),
    ).map((row) => add(row, plain.weight(`${name}.bias`)))
  const logits = (question: Float32Array) => {
    const x = roles.map((role) => concat(constant(role), constant(question)))
    const z = convolved('gcn.1', convolved('gcn.0', x).map(relu))
      .map(logSoftmax)
      .map((row) => plain.linear('mlp.1', relu(plain.linear('mlp.0', row))))
    const products = z.flatMap((one) => z.map((other) => dotProduct(one, other)))
    const numbers = products.map(({ number }) => number)
    const [low, high] = [numbers.indexOf(Math.min(...numbers)), numbers.indexOf(Math.max(...numbers))]
    const range = add(products[high]!, scale(products[low]!, -1))
    return (pair: number) => {
      const [from, to] = [
        [0, 1],
        [0, 2],
        [1, 0],
        [1, 2],
        [2, 0],
        [2, 1],
      ][pair]!
      const above = add(products[from! * 3 + to!]!, scale(products[low]!, -1))
      const inverse = entrywise(
        range,
        (x) => 1 / x,
        (x) => -1 / x ** 2,
      )
      return add(scale(multiply(above, inverse), 2), constant([-1]))
    }
  }
  const loss = edgeLoss(
    batch.map(({ question, drawn: { tried, chosen }, utility }) => ({
      ...{ tried, chosen, utility, logit: logits(question) },
    })),
  )
  const expected = plain.step(loss, { learningRate: 0.1, isMoved: (name) => name.startsWith('gcn.') })
  const before = sampler.network.parameters.read()
  expect(sampler.network.learn((layers) => sampler.loss(layers, batch))).toBeCloseTo(loss.number, 4)
  expectWeights(sampler.network.parameters, expected, 0.1)
  const after = sampler.network.parameters.read()
  for (const [name, { data }] of after)
    expect(
      data.every((value, at) => value === before.get(name)!.data[at]),
      name,
    ).toBe(name.startsWith('mlp.'))
})

test('EIB-Learner: one update is what the recipe says', async () => {
  const options = eibLearner.options.parse({ agents: 3, hidden: 4 }) as Parameters<typeof eibSampler>[1]
  const sampler = eibSampler(means, options)
  const batch = await rollouts(sampler)
  const plain = new PlainNetwork(sampler.network.parameters)
  const views = {
    full: [
      [1 / 2, 1 / 4, 1 / 4],
      [1 / 4, 1 / 2, 1 / 4],
      [1 / 4, 1 / 4, 1 / 2],
    ],
    chain: [
      [1 / 2, 1 / 2, 0],
      [1 / 4, 1 / 2, 1 / 4],
      [0, 1 / 2, 1 / 2],
    ],
  }
  const masks = (view: keyof typeof views, x: readonly Value[]) => {
    const layer = (name: string, rows: readonly Value[]) =>
      mixed(
        views[view],
        rows.map((row) => plain.linear(name, row)),
      )
    const z = layer(`${view}.1`, layer(`${view}.0`, x).map(relu))
    const pairs = [0, 1, 2].flatMap((i) => [0, 1, 2].flatMap((j) => (i === j ? [] : [[i, j] as const])))
    return pairs.map(([i, j]) => sigmoid(dotProduct(z[i]!, z[j]!)))
  }
  const terms = batch.flatMap(({ question: read, drawn: { tried, chosen }, utility }) => {
    const x = read.agents.map((row) => constant(row))
    const gate = softmax(plain.linear('gate.1', relu(plain.linear('gate.0', constant(read.question)))))
    const [dense, sparse] = [masks('full', x), masks('chain', x)]
    return tried.map((pair, at) => {
      const p = add(multiply(slice(gate, 0, 1), dense[pair]!), multiply(slice(gate, 1, 1), sparse[pair]!))
      return scale(log(chosen[at] ? p : minus(p)), -utility / batch.length)
    })
  })
  const { learningRate } = options
  const loss = terms.reduce((sum, term) => add(sum, term))
  const expected = plain.step(loss, { learningRate })
  expect(sampler.network.learn((layers) => sampler.loss(layers, batch))).toBeCloseTo(loss.number, 4)
  expectWeights(sampler.network.parameters, expected, learningRate)
  // Three rounds: each agent hears in the next what it has said itself.
  const { units } = batch[0]!.drawn.graph
  expect(units).toHaveLength(9)
  expect(
    units
      .slice(3)
      .every(({ predecessors, agent }, at) =>
        predecessors.some((one) => one < at + 3 && units[one]!.agent === agent),
      ),
  ).toBe(true)
})

describe('on a small world each learns what pays there', () => {
  /** Pays for a graph in which b hears a. */
  const worth = ({ units }: AgentGraph) =>
    Number(
      units.some(
        ({ role, predecessors }) => role === 'b' && predecessors.some((one) => units[one]!.role === 'a'),
      ),
    )
  const definitions = [
    [gptswarm, { agents: 3, iterations: 60 }],
    [gDesigner, { agents: 3, iterations: 120, learningRate: 0.02 }],
    [gDesigner, { agents: 3, iterations: 60, variant: 'paper', learningRate: 0.02 }],
    [eibLearner, { agents: 3, iterations: 80, rounds: 1, hidden: 8 }],
    [masRouter, { epochs: 80, batch: 4, costRate: 0, maxAgents: 3, hidden: 8 }],
  ] as const
  test.each(
    definitions.map(
      ([definition, options]) =>
        [`${definition.name} ${JSON.stringify(options)}`, definition, options] as const,
    ),
  )('%s', async (_, definition, options) => {
    const learner = await definition.learner!(means, definition.options.parse(options) as never)
    const meanWorth = async () => {
      let sum = 0
      for (let at = 0; at < 60; at += 1)
        sum += worth(await learner.graphFor({ ...tasks[at % 4]!, id: `use-${at}` }))
      return sum / 60
    }
    const before = await meanWorth()
    for (let update = 0; update < learner.updatesFor(tasks.length); update += 1)
      await learner.update({
        update,
        tasks,
        rounds: [],
        evaluate: async (graph) => ({ score: worth(graph) }),
      })
    const after = await meanWorth()
    expect(after).toBeGreaterThan(before + 0.05)
  })
})
