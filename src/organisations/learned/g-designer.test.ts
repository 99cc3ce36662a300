import { describe, expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  roleVectors,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import {
  entrywise,
  expectTwinSteps,
  minus,
  mixed,
  type PlainNetwork,
  relu,
  total,
} from '../../../test/organisations/plain-network.ts'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import {
  add,
  concat,
  dotProduct,
  exp,
  linear,
  logSigmoid,
  logSoftmax,
  multiply,
  scale,
  sigmoid,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { gDesigner, releasedDesigner } from './g-designer.ts'
import { variationalDesigner } from './g-designer-paper.ts'

const means = learnerMeans(6, 3)
const roleRows = await roleVectors(means)
const pairs = [
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 2],
  [2, 0],
  [2, 1],
] as const

describe('as released', () => {
  const openReleased = () => releasedDesigner(means, { agents: 3, learningRate: 0.1 })

  /** Logits of the pairs, as written in the recipe. */
  function logitsOf(plain: PlainNetwork, question: Float32Array): (pair: number) => Value {
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
    const x = roleRows.map((role) => concat(constant(role), constant(question)))
    const z = convolved('gcn.1', convolved('gcn.0', x).map(relu))
      .map(logSoftmax)
      .map((row) => plain.linear('mlp.1', relu(plain.linear('mlp.0', row))))
    const products = z.flatMap((one) => z.map((other) => dotProduct(one, other)))
    const numbers = products.map(({ number }) => number)
    const [low, high] = [numbers.indexOf(Math.min(...numbers)), numbers.indexOf(Math.max(...numbers))]
    const range = add(products[high]!, scale(products[low]!, -1))
    const inverse = entrywise(
      range,
      (x) => 1 / x,
      (x) => -1 / x ** 2,
    )
    return (pair) => {
      const [from, to] = pairs[pair]!
      const above = add(products[from * 3 + to]!, scale(products[low]!, -1))
      return add(scale(multiply(above, inverse), 2), constant([-1]))
    }
  }

  test('steps match the recipe, and only the convolution changes', async () => {
    const sampler = await openReleased()
    const { network } = sampler
    const batch = await Promise.all(
      [1, 0.5].map(async (utility, at) => {
        const question = await sampler.read(worldTasks[at]!)
        return { question, utility, drawn: sampler.draw(question, deriveRandom(5, at)) }
      }),
    )
    const before = network.parameters.read()
    expectTwinSteps(network, {
      learningRate: 0.1,
      isMoved: (name) => name.startsWith('gcn.'),
      learn: () => network.learn((layers) => sampler.loss(layers, batch)),
      loss: (plain) =>
        batch
          .flatMap(({ question, drawn: { tried, chosen }, utility }) => {
            const logit = logitsOf(plain, question)
            return tried.map((pair, at) =>
              scale(logSigmoid(scale(logit(pair), chosen[at] ? 1 : -1)), -utility / 2),
            )
          })
          .reduce((sum, term) => add(sum, term)),
    })
    for (const [name, { data }] of network.parameters.read())
      expect(
        data.every((value, at) => value === before.get(name)!.data[at]!),
        name,
      ).toBe(name.startsWith('mlp.'))
  })

  test('in use: draws edges in agent order, for one round, and a decision that hears all', async () => {
    const sampler = await openReleased()
    const question = await sampler.read(worldTasks[0]!)
    // Every p is between 0.27 and 0.73: 0.2 takes an edge and 0.8 does not. a→b yes, a→c no, b→a would close
    // a cycle, b→c yes.
    const { graph, tried } = sampler.draw(question, scriptedRandom(0.2, 0.8, 0.2))
    expect(tried).toEqual([0, 1, 3])
    const say = ({ who }: { who: string }) => ({ a: 5, b: 6, c: 7 })[who] ?? 42
    const { calls, answer } = await runGraph(graph, say, { library: tinyLibrary })
    expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
      ['a'],
      ['b', 'a: 5'],
      ['c', 'b: 6'],
      ['finalizer', 'a: 5', 'b: 6', 'c: 7'],
    ])
    expect(answer).toBe('42')
  })
})

test('as in the paper: steps match its loss', async () => {
  const sampler = await variationalDesigner(means, { agents: 2, learningRate: 0.01 })
  const { network } = sampler
  const question = await sampler.read(worldTasks[0]!)
  const drawn = sampler.draw(question, deriveRandom(5, 0))
  const utility = 1
  const lossOf = (plain: PlainNetwork) => {
    const task = constant(question)
    const x = [concat(constant(roleRows[0]!), task), concat(constant(roleRows[1]!), task), concat(task, task)]
    // Two chained agents and a task node joined to both: counting itself, each has three neighbours.
    const joined = [0, 1, 2].map(() => [1 / 3, 1 / 3, 1 / 3])
    const layer = (name: string, rows: readonly Value[]) =>
      mixed(
        joined,
        rows.map((row) => plain.linear(name, row)),
      )
    const hidden = layer('gcn', x).map(relu)
    const [centres, spreads] = [layer('mean', hidden), layer('log_variance', hidden)]
    const z = centres.map((mean, node) =>
      add(mean, multiply(exp(scale(spreads[node]!, 0.5)), constant(drawn.noise[node]!))),
    )
    const logits = [
      [0, 1],
      [1, 0],
    ].map(([from, to]) =>
      plain.linear('decoder.1', relu(plain.linear('decoder.0', concat(z[from!]!, z[to!]!, z[2]!)))),
    )
    const [forth, back] = logits.map(sigmoid)
    const edges = drawn.tried.map((pair, at) =>
      scale(logSigmoid(scale(logits[pair]!, drawn.chosen[at] ? 1 : -1)), -utility),
    )
    // μ² + σ² − ln σ²; the constant −1 is left out of the loss, since it has no gradient.
    const divergences = centres.map((mean, node) =>
      scale(total([add(multiply(mean, mean), exp(spreads[node]!), scale(spreads[node]!, -1))]), 0.01 / 2 / 3),
    )
    const off = minus(forth!)
    return total([
      ...edges,
      ...divergences,
      scale(add(multiply(off, off), multiply(back!, back!)), 0.1 / 2),
      // A matrix with two entries off its diagonal has these singular values.
      scale(add(forth!, back!), 0.01),
    ])
  }
  expectTwinSteps(network, {
    learningRate: 0.01,
    learn: () => network.learn((layers) => sampler.loss(layers, [{ question, drawn, utility }])),
    loss: lossOf,
  })
})

describe('in a world that pays when b hears a', () => {
  const worth = ({ units }: AgentGraph) =>
    Number(
      units.some(
        ({ role, predecessors }) => role === 'b' && predecessors.some((one) => units[one]!.role === 'a'),
      ),
    )
  test.each([
    { agents: 3, iterations: 120, learningRate: 0.02 },
    { agents: 3, iterations: 60, variant: 'paper', learningRate: 0.02 },
  ])('%o learns to do so', async (options) => {
    const learner = await gDesigner.learner!(means, gDesigner.options.parse(options))
    const { before, after } = await improvement(learner, worldTasks, worth)
    expect(after).toBeGreaterThan(before + 0.05)
  })
})
