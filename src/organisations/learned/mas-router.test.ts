import { expect, test } from 'vitest'
import { narrowEncoder } from '../../../test/narrow-encoder.ts'
import { entrywise, expectWeights, PlainNetwork, relu, total, unit } from '../../../test/plain-network.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
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

const encoder = narrowEncoder(5)
const means = { library: tinyLibrary, profile: tinyProfile, encoder, seed: 4 }
const hidden = 3
const pool = [
  { name: 'small', description: 'cheap' },
  { name: 'large', description: 'good at sums' },
]

test('one update is what the recipe says', async () => {
  const given = { hidden, maxAgents: 6, learningRate: 0.01, models: pool, costRate: 200 }
  const options = masRouter.options.parse(given) as Parameters<typeof masRouterSampler>[1]
  const sampler = await masRouterSampler(means, options)
  const utility = sampler.utility!({ score: 1, cost: 0.001 })
  expect(utility).toBeCloseTo(0.8)
  expect(() => sampler.utility!({ score: 1 })).toThrow('a model has no price')
  const question = await sampler.read({ id: 'q', question: 'How many apples are left?', metadata: {} })
  const drawn = sampler.draw(question, deriveRandom(1))
  const plain = new PlainNetwork(sampler.network.parameters)
  const encoded = async (texts: readonly string[]) =>
    (await encoder.encode(texts)).map((row) => constant(row))

  const losses: Value[] = []
  const code = (name: string, rows: readonly Value[], noise: readonly number[][]): Value[] => {
    let [error, divergence] = [constant([0]), constant([0])]
    const latents = rows.map((x, at) => {
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
    losses.push(scale(error, 1 / rows.length / encoder.dims), scale(divergence, -0.5 / rows.length / hidden))
    return latents.map(unit)
  }
  const logs = (context: Value, choices: readonly Value[], temperature: number) =>
    logSoftmax(concat(...choices.map((choice) => scale(dotProduct(context, choice), 1 / temperature))))

  const query = constant(question.vector)
  const classes = await encoded([
    'Code: writing a program that passes its tests.',
    'Table: finding and computing what a table says.',
    'Choice: knowledge and reasoning, the answer being one of several options.',
    'Open: a problem to reason about or to compute, with a short answer.',
  ])
  expect(question.label).toBe(3)
  const context = unit(plain.linear('task.query', query))
  const classLogs = logs(
    context,
    classes.map((row) => unit(plain.linear('task.task', row))),
    0.5,
  )
  const modeRows = code(
    'mode.mode',
    await encoded(modes.map(({ name, text }) => `${name} : ${text}`)),
    drawn.noise.modes,
  )
  const [queryRow] = code('mode.context', [query], drawn.noise.context)
  const modeLogs = logs(queryRow!, modeRows, 0.8)
  const [countRow] = code('count.vae', [query], drawn.noise.count)
  const count = scale(sigmoid(plain.linear('count.fc', countRow!)), 6)
  expect(drawn.roles).toHaveLength(Math.max(1, Math.round(count.number)))
  const roleRows = code(
    'role.role',
    await encoded(tinyLibrary.texts.map(({ role, atomic }) => `${role}\n${atomic}`)),
    drawn.noise.roles,
  )
  let history: Value = constant(new Float64Array(hidden))
  const roleLogs = drawn.roles.map((role, agent) => {
    const mean = add(
      history,
      agent === 0 ? constant(new Float64Array(hidden)) : roleRows[drawn.roles[agent - 1]!]!,
    )
    history = layerNorm(mean, constant(new Float64Array(hidden).fill(1)), constant(new Float64Array(hidden)))
    const state = unit(plain.linear('role.context', concat(context, modeRows[drawn.mode]!, history)))
    return slice(logs(state, roleRows, 0.5), role, 1)
  })
  const modelRows = code(
    'model.model',
    await encoded(pool.map(({ name, description }) => `${name} : ${description}`)),
    drawn.noise.models,
  )
  const modelState = unit(plain.linear('model.context', concat(context, modeRows[drawn.mode]!, history)))
  const modelLogs = logs(modelState, modelRows, 1)
  // ln Γ(n + 1) − Σ ln k_m! + Σ k_m ln p_m, n being the float
  const times = pool.map((_, model) => drawn.models.filter((one) => one === model).length)
  const multinomial = add(
    entrywise(add(count, constant([1])), logGamma, digamma),
    constant([-times.reduce((all, k) => all + logGamma(k + 1), 0)]),
    ...times.map((k, model) => scale(slice(modelLogs, model, 1), k)),
  )
  const route = total([slice(modeLogs, drawn.mode, 1), ...roleLogs, multinomial])
  const loss = total([
    scale(slice(classLogs, 3, 1), -1),
    scale(route, -utility),
    ...losses.map((part) => scale(part, 0.001)),
  ])
  const value = loss.number
  const expected = plain.step(loss, { learningRate: 0.01 })
  const learned = sampler.network.learn((layers) => sampler.loss(layers, [{ question, drawn, utility }]))
  expect(learned).toBeCloseTo(value, 4)
  expectWeights(sampler.network.parameters, expected, 0.01)
})

test('the modes are the templates of the recipe', () => {
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
