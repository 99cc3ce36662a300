import { expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { runGraph } from '../../../test/organisations/organisation-run.ts'
import {
  expectTwinSteps,
  log,
  minus,
  mixed,
  type PlainNetwork,
  relu,
  withoutWeights,
} from '../../../test/organisations/plain-network.ts'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { add, dotProduct, multiply, scale, sigmoid, slice, softmax } from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { eibLearner, eibSampler } from './eib-learner.ts'

const means = learnerMeans(6, 3)
const open = (options: object) =>
  eibSampler(means, eibLearner.options.parse(options) as Parameters<typeof eibSampler>[1])

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

/** σ(ZᵀZ) of a view, for all ordered pairs. */
function masksOf(plain: PlainNetwork, view: keyof typeof views, x: readonly Value[]): Value[] {
  const layer = (name: string, rows: readonly Value[]) =>
    mixed(
      views[view],
      rows.map((row) => plain.linear(name, row)),
    )
  const z = layer(`${view}.1`, layer(`${view}.0`, x).map(relu))
  const pairs = [0, 1, 2].flatMap((i) => [0, 1, 2].flatMap((j) => (i === j ? [] : [[i, j] as const])))
  return pairs.map(([i, j]) => sigmoid(dotProduct(z[i]!, z[j]!)))
}

test('steps match the recipe', async () => {
  const sampler = open({ agents: 3, hidden: 4 })
  const { network } = sampler
  const batch = await Promise.all(
    [1, 0.5].map(async (utility, at) => {
      const question = await sampler.read(worldTasks[at]!)
      return { question, utility, drawn: sampler.draw(question, deriveRandom(5, at)) }
    }),
  )
  expectTwinSteps(network, {
    learningRate: 0.01,
    learn: () => network.learn((layers) => sampler.loss(layers, batch)),
    loss: (plain) =>
      batch
        .flatMap(({ question: read, drawn: { tried, chosen }, utility }) => {
          const x = read.agents.map((row) => constant(row))
          const gate = softmax(plain.linear('gate.1', relu(plain.linear('gate.0', constant(read.question)))))
          const [dense, sparse] = [masksOf(plain, 'full', x), masksOf(plain, 'chain', x)]
          return tried.map((pair, at) => {
            const parts = [
              multiply(slice(gate, 0, 1), dense[pair]!),
              multiply(slice(gate, 1, 1), sparse[pair]!),
            ]
            const p = add(...(parts as [Value, Value]))
            return scale(log(chosen[at] ? p : minus(p)), -utility / 2)
          })
        })
        .reduce((sum, term) => add(sum, term)),
  })
})

test('in use: the drawn edges apply in every round, plus each agent’s own last reply', async () => {
  const sampler = open({ agents: 3, rounds: 2, hidden: 4 })
  // Without weights all masks are σ(0) and the gate is even: every p is one half.
  withoutWeights(sampler.network.parameters)
  const question = await sampler.read(worldTasks[0]!)
  // a→b yes, a→c no, b→a would close a cycle, b→c no, c→a yes, c→b no.
  const { graph, tried } = sampler.draw(question, scriptedRandom(0.4, 0.6, 0.6, 0.4, 0.6))
  expect(tried).toEqual([0, 1, 3, 4, 5])
  const round = new Map<string, number>()
  const { calls, answer } = await runGraph(
    graph,
    ({ who }) => {
      round.set(who, (round.get(who) ?? 0) + 1)
      const base = { 'a 0': 10, 'b 1': 20, 'c 2': 30 }[who]
      return base === undefined ? 42 : base + round.get(who)!
    },
    { library: tinyLibrary },
  )
  // c speaks first, a hears c, b hears a; in the second round each also hears its own reply.
  expect(calls.map(({ who, hears }) => [who, ...hears.toSorted()])).toEqual([
    ['c 2'],
    ['a 0', 'c: 31'],
    ['c 2', 'c (self): 31'],
    ['b 1', 'a: 11'],
    ['a 0', 'a (self): 11', 'c: 32'],
    ['b 1', 'a: 12', 'b (self): 21'],
    ['finalizer', 'b: 22'],
  ])
  expect(answer).toBe('42')
})

test('learns that the world pays when b hears a', async () => {
  const options = { agents: 3, iterations: 80, rounds: 1, hidden: 8 }
  const learner = await eibLearner.learner!(means, eibLearner.options.parse(options))
  const { before, after } = await improvement(learner, worldTasks, ({ units }) =>
    Number(
      units.some(
        ({ role, predecessors }) => role === 'b' && predecessors.some((one) => units[one]!.role === 'a'),
      ),
    ),
  )
  expect(after).toBeGreaterThan(before + 0.05)
})
