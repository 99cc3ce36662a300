import { describe, expect, test } from 'vitest'
import {
  improvement,
  learnerMeans,
  roleVectors,
  scriptedRandom,
  worldTasks,
} from '../../../test/organisations/learning-world.ts'
import { type AskedCall, runGraph } from '../../../test/organisations/organisation-run.ts'
import {
  entrywise,
  expectTwinSteps,
  type PlainNetwork,
  relu,
  total,
  unit,
} from '../../../test/organisations/plain-network.ts'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { digamma, logGamma } from '../../numerics/gamma.ts'
import {
  add,
  concat,
  dotProduct,
  exp,
  layerNorm,
  logSoftmax,
  multiply,
  scale,
  sigmoid,
  slice,
  sum,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { agentOf } from './agents.ts'
import { modeGraph, modes } from './collaboration-mode.ts'
import { masRouter, masRouterSampler } from './mas-router.ts'

const means = learnerMeans(5, 4)
const hidden = 3
const pool = [
  { name: 'small', description: 'cheap' },
  { name: 'large', description: 'good at sums' },
]

const encoded = async (texts: readonly string[]) =>
  (await means.encoder.encode(texts)).map((row) => constant(row))
const rows = {
  classes: await encoded([
    'Code: writing a program that passes its tests.',
    'Table: finding and computing what a table says.',
    'Choice: knowledge and reasoning, the answer being one of several options.',
    'Open: a problem to reason about or to compute, with a short answer.',
  ]),
  modes: await encoded(modes.map(({ name, text }) => `${name} : ${text}`)),
  roles: (await roleVectors(means)).map((row) => constant(row)),
  models: await encoded(pool.map(({ name, description }) => `${name} : ${description}`)),
}
const open = (options: object) =>
  masRouterSampler(means, masRouter.options.parse(options) as Parameters<typeof masRouterSampler>[1])
type Sampler = Awaited<ReturnType<typeof open>>
type Drawn = ReturnType<Sampler['draw']>

/**
 * Cross-entropy of the class − ln p(route) · utility + 0.001 · the autoencoders' losses, for an open
 * question.
 */
function lossOf(plain: PlainNetwork, vector: Float32Array, drawn: Drawn, utility: number): Value {
  const losses: Value[] = []
  const code = (name: string, inputs: readonly Value[], noise: readonly number[][]): Value[] => {
    let [error, divergence] = [constant([0]), constant([0])]
    const latents = inputs.map((x, at) => {
      const h = relu(plain.linear(`${name}.fc1`, x))
      const [mean, logVariance] = [plain.linear(`${name}.fc21`, h), plain.linear(`${name}.fc22`, h)]
      const z = add(mean, scale(multiply(exp(scale(logVariance, 0.5)), constant(noise[at]!)), 0.1))
      const off = add(plain.linear(`${name}.fc4`, relu(plain.linear(`${name}.fc3`, z))), scale(x, -1))
      error = add(error, dotProduct(off, off))
      // 1 − ln v₂ + ln v − (μ² + v)/v₂ with v₂ = 0.01
      const spread = scale(add(multiply(mean, mean), exp(logVariance)), -1 / 0.01)
      const ones = constant(new Float64Array(hidden).fill(1 - Math.log(0.01)))
      divergence = add(divergence, sum(add(ones, logVariance, spread)))
      return z
    })
    const count = inputs.length
    losses.push(scale(error, 1 / count / means.encoder.dims), scale(divergence, -0.5 / count / hidden))
    return latents.map(unit)
  }
  const logs = (context: Value, choices: readonly Value[], temperature: number) =>
    logSoftmax(concat(...choices.map((choice) => scale(dotProduct(context, choice), 1 / temperature))))

  const query = constant(vector)
  const context = unit(plain.linear('task.query', query))
  const classLogs = logs(
    context,
    rows.classes.map((row) => unit(plain.linear('task.task', row))),
    0.5,
  )
  const modeRows = code('mode.mode', rows.modes, drawn.noise.modes)
  const [queryRow] = code('mode.context', [query], drawn.noise.context)
  const modeLogs = logs(queryRow!, modeRows, 0.8)
  const [countRow] = code('count.vae', [query], drawn.noise.count)
  const count = scale(sigmoid(plain.linear('count.fc', countRow!)), 6)
  const roleRows = code('role.role', rows.roles, drawn.noise.roles)
  const none = constant(new Float64Array(hidden))
  let history: Value = none
  const roleLogs = drawn.roles.map((role, agent) => {
    const sofar = add(history, agent === 0 ? none : roleRows[drawn.roles[agent - 1]!]!)
    history = layerNorm(sofar, constant(new Float64Array(hidden).fill(1)), none)
    const state = unit(plain.linear('role.context', concat(context, modeRows[drawn.mode]!, history)))
    return slice(logs(state, roleRows, 0.5), role, 1)
  })
  const modelRows = code('model.model', rows.models, drawn.noise.models)
  const modelState = unit(plain.linear('model.context', concat(context, modeRows[drawn.mode]!, history)))
  const modelLogs = logs(modelState, modelRows, 1)
  // ln Γ(n + 1) − Σ ln k_m! + Σ k_m ln p_m, with n the float
  const times = pool.map((_, model) => drawn.models.filter((one) => one === model).length)
  const multinomial = add(
    entrywise(add(count, constant([1])), logGamma, digamma),
    constant([-times.reduce((all, k) => all + logGamma(k + 1), 0)]),
    ...times.map((k, model) => scale(slice(modelLogs, model, 1), k)),
  )
  return total([
    scale(slice(classLogs, 3, 1), -1),
    scale(total([slice(modeLogs, drawn.mode, 1), ...roleLogs, multinomial]), -utility),
    ...losses.map((part) => scale(part, 0.001)),
  ])
}

test('steps match the recipe', async () => {
  const sampler = await open({ hidden, learningRate: 0.01, models: pool, costRate: 200 })
  const utility = sampler.utility!({ score: 1, cost: 0.001 })
  expect(utility).toBeCloseTo(0.8)
  expect(() => sampler.utility!({ score: 1 })).toThrow('a model has no price')
  const question = await sampler.read({ id: 'q', question: 'How many apples are left?', metadata: {} })
  expect(question.label).toBe(3)
  const drawn = sampler.draw(question, deriveRandom(1))
  const { network } = sampler
  expectTwinSteps(network, {
    learningRate: 0.01,
    learn: () => network.learn((layers) => sampler.loss(layers, [{ question, drawn, utility }])),
    loss: (plain) => lossOf(plain, question.vector, drawn, utility),
  })
})

describe('in use', () => {
  /** Three agents: round(6 · σ(0)). */
  async function openForThree() {
    const sampler = await open({ hidden, models: pool })
    const { parameters } = sampler.network
    const changed = parameters.read()
    changed.get('count.fc.weight')!.data.fill(0)
    changed.get('count.fc.bias')!.data.fill(0)
    parameters.write(changed)
    return sampler
  }
  const say = (heard: AskedCall) => (heard.who === 'finalizer' ? 42 : 5 + heard.hears.length)
  const given = { library: tinyLibrary, pool: pool.map(({ name }) => name) }

  test('draws a mode, three roles and three models: the first of each', async () => {
    const sampler = await openForThree()
    const question = await sampler.read(worldTasks[0]!)
    const { graph } = sampler.draw(question, scriptedRandom(...new Array<number>(7).fill(0)))
    expect(graph.units.map(({ role, agent, model }) => [role, agent, model])).toEqual(
      [0, 1, 2].map((agent) => ['a', agent, 'small']),
    )
    // IO: nobody hears anybody, and the decision hears all.
    const { calls, answer } = await runGraph(graph, say, given)
    expect(calls.map(({ who, hears, model }) => [who, model, ...hears])).toEqual([
      ['a 0', 'small'],
      ['a 1', 'small'],
      ['a 2', 'small'],
      ['finalizer', undefined, 'a: 5', 'a: 5', 'a: 5'],
    ])
    expect(answer).toBe('42')
  })

  test('or the last of each: Reflection, where each agent hears its own answer once', async () => {
    const sampler = await openForThree()
    const question = await sampler.read(worldTasks[0]!)
    const { graph } = sampler.draw(question, scriptedRandom(...new Array<number>(7).fill(0.999_999)))
    const { calls } = await runGraph(graph, say, given)
    expect(calls.map(({ who, hears, model }) => [who, model, ...hears])).toEqual([
      ['c 0', 'large'],
      ['c 1', 'large'],
      ['c 2', 'large'],
      ['c 0', 'large', 'c (self): 5'],
      ['c 1', 'large', 'c (self): 5'],
      ['c 2', 'large', 'c (self): 5'],
      ['finalizer', undefined, 'c: 6', 'c: 6', 'c: 6'],
    ])
  })

  test('in a debate everyone hears the whole first round', async () => {
    const agents = [0, 1].map((role) => agentOf(tinyLibrary.roles, role))
    const { calls } = await runGraph(modeGraph('Debate', agents, tinyLibrary), say, { library: tinyLibrary })
    expect(calls.map(({ who, hears }) => [who, ...hears.toSorted()])).toEqual([
      ['a 0'],
      ['b 1'],
      ['a 0', 'a (self): 5', 'b: 5'],
      ['b 1', 'a: 5', 'b (self): 5'],
      ['finalizer', 'a: 7', 'b: 7'],
    ])
  })
})

test('learns that the world pays when b hears a', async () => {
  const options = { epochs: 80, batch: 4, costRate: 0, maxAgents: 3, hidden: 8 }
  const learner = await masRouter.learner!(means, masRouter.options.parse(options))
  const { before, after } = await improvement(learner, worldTasks, ({ units }) =>
    Number(
      units.some(
        ({ role, predecessors }) => role === 'b' && predecessors.some((one) => units[one]!.role === 'a'),
      ),
    ),
  )
  expect(after).toBeGreaterThan(before + 0.05)
})

test('the modes are the recipe’s templates', () => {
  const agents = [0, 1, 2].map((role) => agentOf(tinyLibrary.roles, role))
  const heard = (mode: (typeof modes)[number]['name']) =>
    modeGraph(mode, agents, tinyLibrary).units.map(({ predecessors }) => predecessors)
  expect(heard('IO')).toEqual([[], [], []])
  expect(heard('Chain')).toEqual([[], [0], [1]])
  expect(heard('FullConnected')).toEqual([[], [0], [0, 1]])
  expect(heard('Debate')).toEqual([[], [], [], [0, 1, 2], [0, 1, 2], [0, 1, 2]])
  expect(heard('Reflection')).toEqual([[], [], [], [0], [1], [2]])
  expect(modeGraph('Chain', agents, tinyLibrary).finalizer).toBe('summarizer-of-all')
  expect(modeGraph('Debate', agents, tinyLibrary).finalizer).toBeUndefined()
})
