import { describe, expect, test } from 'vitest'
import { Comparison, tolerances } from '../../conformance/policy/tolerance.ts'
import { numbersLike, tinyOptions, tinyParameters, tinyPolicy } from '../../test/tiny-policy.ts'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import type { ConstructionSpace } from '../graph/legality.ts'
import { defineRoleSpace } from '../library/role-space.ts'
import { paperAdam } from '../numerics/adam.ts'
import { freshAdam } from '../numerics/plain/adam.ts'
import { deriveRandom } from '../numerics/random.ts'
import { constructGraphs } from '../policy/construction.ts'
import { PlainNetwork, type PlainNetworkOptions } from '../policy/plain-network.ts'
import type { ConstructionPolicy } from '../policy/policy.ts'
import { type PlainTraining, plainUpdate } from './plain-update.ts'
import { PolicyLearner } from './policy-update.ts'
import { type LossWeights, paperLossWeights, type RecordedGroup } from './recorded-group.ts'

const space: ConstructionSpace = {
  roles: defineRoleSpace(
    [
      { id: 'both', atomic: true, group: true },
      { id: 'alone', atomic: true, group: false },
      { id: 'grouped', atomic: false, group: true },
    ],
    (from, to) => from >= to,
  ),
  maxUnits: 3,
  maxDepth: 4,
  restriction: 'mixed',
}
const options = tinyOptions(space)

/** A group as training records it: graphs that a policy drew, with some advantage for every action. */
function drawGroup(
  policy: ConstructionPolicy,
  seed: number,
  change: Partial<RecordedGroup> = {},
): RecordedGroup {
  const query = numbersLike(3, seed, 1)
  const random = deriveRandom(seed, 'advantages')
  const { restriction = 'mixed', temperature = 1.5 } = change
  const jobs = [0, 1, 2].map((index) => ({
    query,
    random: deriveRandom(seed, 'trajectory', index),
    restriction,
    temperature: 3,
    // A mask for two of three: states with and without one meet in a group.
    dropout: index < 2,
  }))
  const trajectories = constructGraphs(policy, jobs).map(({ steps }) => steps)
  const advantages = trajectories.map((steps) => steps.map(() => random.normal()))
  return { query, restriction, temperature, trajectories, advantages, ...change }
}

const unit: Unit = { role: 'alone', realization: 'atomic', predecessors: [] }
const other: Unit = { role: 'both', realization: 'group', predecessors: [0] }
const add = (added: Unit) => ({ type: 'add', ...added }) as const
const step = (units: Unit[], action: RecordedGroup['trajectories'][0][0]['action']) => ({
  graph: AgentGraph.of(units),
  action,
  dropoutKeep: null,
})

/** Runs updates on both engines and says where they part. Weights of a small spread keep off the flat tails of GELU. */
function differences(
  sizes: PlainNetworkOptions,
  groups: readonly RecordedGroup[],
  { weights = paperLossWeights, spread = 1 }: { weights?: LossWeights; spread?: number } = {},
): string[] {
  const adam = paperAdam
  const parameters = tinyParameters(sizes, 1, spread)
  const referenceParameters = tinyParameters(sizes, 2, spread)
  const policy = tinyPolicy(sizes, parameters)
  const learner = new PolicyLearner(policy, { adam, weights, reference: policy.freeze(referenceParameters) })
  const reference = new PlainNetwork(referenceParameters, sizes, true)
  let training: PlainTraining = { parameters, adam: freshAdam }
  const comparison = new Comparison()
  const { values, gradients, weights: weightsTolerance } = tolerances.float32
  for (const [index, group] of groups.entries()) {
    const report = learner.accumulateGradients(group)
    const ownGradients = policy.parameters.readGradients()
    learner.applyGradients()
    const [expected, next] = plainUpdate(training, reference, group, weights, adam)
    training = next
    for (const part of ['loss', 'policyLoss', 'meanDivergence', 'meanEntropy'] as const)
      comparison.number(`update ${index} ${part}`, report[part], expected[part], values)
    for (const part of ['logProbabilities', 'divergences', 'entropies'] as const)
      comparison.lists(`update ${index} ${part}`, report[part], expected[part], values)
    for (const [name, gradient] of expected.gradients)
      comparison.list(`update ${index} gradient ${name}`, ownGradients.get(name)!.data, gradient, gradients)
    const after = policy.parameters.read()
    for (const [name, { data }] of training.parameters)
      comparison.list(`update ${index} weights ${name}`, after.get(name)!.data, data, weightsTolerance)
  }
  const moments = learner.adam.read()
  const flat = (map: ReadonlyMap<string, Float64Array>) => [...map.values()].flatMap((data) => [...data])
  comparison.list('first moments', moments.first, flat(training.adam.first), gradients)
  comparison.list('second moments', moments.second, flat(training.adam.second), gradients)
  expect(moments.step).toBe(groups.length)
  return comparison.differences
}

describe('agrees with the plain update, one after the other', () => {
  test.each([1, 2, 3, 4])('on groups as training records them (%i)', (seed) => {
    const policy = tinyPolicy(options)
    const groups = [0, 1, 2, 3, 4].map((index) => drawGroup(policy, seed * 10 + index))
    expect(differences(options, groups)).toEqual([])
  })

  test('in every restriction, at every temperature, with strong regularizers', () => {
    const policy = tinyPolicy(options)
    const groups = (['all-atomic', 'all-group', 'mixed'] as const).map((restriction, index) =>
      drawGroup(policy, 50 + index, { restriction, temperature: 0.5 + index }),
    )
    expect(differences(options, groups, { weights: { divergence: 0.7, entropy: 0.3 } })).toEqual([])
  })

  test('with sizes that fill no vector', () => {
    const odd = { ...options, dimensions: { ...options.dimensions, hidden: 7 } }
    const policy = tinyPolicy(odd)
    const groups = [0, 1, 2].map((index) => drawGroup(policy, 70 + index))
    // There a gradient of 1e-9 has no digit right in single precision, and Adam makes a whole step of it.
    expect(differences(odd, groups, { spread: 0.4 })).toEqual([])
  })

  test('where the encoder is not reached at first', () => {
    const policy = tinyPolicy(options)
    const stop = { trajectories: [[step([], { type: 'stop' })]], advantages: [[0.7]] }
    expect(differences(options, [drawGroup(policy, 1, stop), drawGroup(policy, 2)])).toEqual([])
  })

  test('where states repeat: the empty graph, equal graphs, equal graphs with other masks', () => {
    const keep = (...entries: number[]) => [Uint8Array.from(entries)]
    const trajectories = [
      [step([], add(unit)), step([unit], add(other)), step([unit, other], { type: 'stop' })],
      [step([], add(unit)), step([unit], { type: 'stop' })],
      [step([], { type: 'stop' })],
      [
        { ...step([], add(unit)), dropoutKeep: [] },
        { ...step([unit], { type: 'stop' }), dropoutKeep: keep(1, 0, 1, 1) },
      ],
      [
        { ...step([], add(unit)), dropoutKeep: [] },
        { ...step([unit], { type: 'stop' }), dropoutKeep: keep(1, 0, 1, 1) },
      ],
    ]
    const random = deriveRandom(4, 'repeats')
    const advantages = trajectories.map((steps) => steps.map(() => random.normal()))
    const group = drawGroup(tinyPolicy(options), 1, { trajectories, advantages })
    expect(differences(options, [group, group])).toEqual([])
  })
})

test('a forced STOP counts in the mean and sends nothing back', () => {
  const policy = tinyPolicy(options)
  const third: Unit = { role: 'alone', realization: 'atomic', predecessors: [0] }
  const decided = [step([], add(unit)), step([unit], add(other)), step([unit, other], add(third))]
  const forced = step([unit, other, third], { type: 'stop' })
  const group = (trajectories: RecordedGroup['trajectories'], advantages: number[][]) =>
    drawGroup(policy, 1, { trajectories, advantages })
  const advantages = [0.4, -1, 0.3]
  const without = new PolicyLearner(policy).accumulateGradients(group([decided], [advantages]))
  const gradients = policy.parameters.readGradients()
  policy.workspace.gradients(policy.parameters.block).fill(0)
  const learner = new PolicyLearner(policy)
  const report = learner.accumulateGradients(group([[...decided, forced]], [[...advantages, 123]]))
  expect(report.logProbabilities[0]).toEqual([...without.logProbabilities[0]!, 0])
  expect(report.entropies[0]!.at(-1)).toBe(0)
  expect(report.divergences[0]!.at(-1)).toBe(0)
  expect(report.loss).toBeCloseTo(without.loss * (3 / 4), 12)
  for (const [name, { data }] of policy.parameters.readGradients()) {
    const expected = gradients.get(name)!.data
    for (const [index, value] of data.entries()) expect(value).toBeCloseTo(expected[index]! * (3 / 4), 6)
  }
  // Alone it has no gradient at all, and the optimizer still takes a step.
  policy.workspace.gradients(policy.parameters.block).fill(0)
  expect(learner.update(group([[forced]], [[1]])).loss).toBe(0)
  expect(learner.adam.read().step).toBe(1)
  expect(learner.adam.read().first.every((value) => value === 0)).toBe(true)
})

describe('the reference', () => {
  test('stays what it was before the first update', () => {
    const policy = tinyPolicy(options)
    const before = policy.parameters.read()
    const learner = new PolicyLearner(policy)
    const look = () => learner.reference.inspect(numbersLike(3, 8, 1), AgentGraph.of([unit, other])).logits
    const logits = look()
    const groups = [0, 1, 2, 3].map((index) => drawGroup(policy, index))
    expect(learner.update(groups[0]!).meanDivergence).not.toBe(0)
    const noDropout = { ...groups[1]!, trajectories: [[step([], { type: 'stop' })]], advantages: [[1]] }
    for (const group of groups) learner.update(group)
    expect(learner.update(noDropout).meanDivergence).toBeGreaterThan(0)
    expect(learner.reference.parameters.read()).toEqual(before)
    expect(look()).toEqual(logits)
    expect(policy.parameters.read()).not.toEqual(before)
  })

  test('without dropout the first divergence is zero', () => {
    const policy = tinyPolicy(options)
    const group = drawGroup(policy, 3, {
      trajectories: [[step([], add(unit)), step([unit], { type: 'stop' })]],
      advantages: [[1, -1]],
    })
    expect(Math.abs(new PolicyLearner(policy).update(group).meanDivergence)).toBeLessThan(1e-9)
  })

  test('may live in a workspace of its own', () => {
    const run = (reference: (policy: ConstructionPolicy) => ConstructionPolicy) => {
      const policy = tinyPolicy(options)
      const fixed = reference(policy)
      const learner = new PolicyLearner(policy, { reference: fixed })
      const marks = new Set<number>()
      for (let index = 0; index < 5; index += 1) {
        learner.update(drawGroup(policy, index))
        marks.add(fixed.workspace.mark())
      }
      expect(marks.size).toBe(1)
      return policy.parameters.read()
    }
    const initial = tinyParameters(options, 2)
    expect(run(() => tinyPolicy(options, initial))).toEqual(run((policy) => policy.freeze(initial)))
  })
})

describe('what is not finite stops the update', () => {
  /** Everything an update may change. */
  const stateOf = ({ policy, adam }: PolicyLearner) =>
    structuredClone({
      weights: policy.parameters.read(),
      gradients: policy.parameters.readGradients(),
      adam: adam.read(),
    })

  /** A learner after a good update; `spoil` must fail, and then all goes on as if it had not been tried. */
  function expectUntouched(
    message: string,
    spoil: (learner: PolicyLearner, group: RecordedGroup) => void,
  ): void {
    const run = (disturbed: boolean) => {
      const policy = tinyPolicy(options)
      const learner = new PolicyLearner(policy)
      learner.update(drawGroup(policy, 1))
      if (disturbed) {
        const before = stateOf(learner)
        const mark = policy.workspace.mark()
        expect(() => spoil(learner, drawGroup(policy, 2))).toThrow(message)
        expect(stateOf(learner)).toEqual(before)
        expect([...before.gradients.values()].every(({ data }) => data.every((value) => value === 0))).toBe(
          true,
        )
        expect(policy.workspace.mark()).toBe(mark)
      }
      learner.update(drawGroup(policy, 3))
      return stateOf(learner)
    }
    expect(run(true)).toEqual(run(false))
  }

  const withAdvantage = (group: RecordedGroup, value: number): RecordedGroup => ({
    ...group,
    advantages: group.advantages.map((list, trajectory) =>
      list.map((advantage, position) => (trajectory === 1 && position === 0 ? value : advantage)),
    ),
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'an advantage of %d',
    (value) => {
      expectUntouched(`the advantage of action 0 of trajectory 1 is ${value}`, (learner, group) =>
        learner.update(withAdvantage(group, value)),
      )
    },
  )

  test('the advantage of a forced STOP, which nothing is multiplied by', () => {
    const third: Unit = { role: 'alone', realization: 'atomic', predecessors: [] }
    const trajectories = [[step([unit, other, third], { type: 'stop' })]]
    expectUntouched('action 0 of trajectory 0', (learner, group) =>
      learner.update({ ...group, trajectories, advantages: [[Number.NaN]] }),
    )
  })

  test('an advantage so large that a gradient overflows', () => {
    expectUntouched('the gradient of', (learner, group) => learner.update(withAdvantage(group, 1e300)))
  })

  test('a query', () => {
    expectUntouched('the loss is NaN', (learner, group) =>
      learner.update({ ...group, query: [0, Number.NaN, 0] }),
    )
  })

  test.each(['stop_head.2.bias', 'role_head.0.weight', 'gru.weight_hh', 'empty_graph', 'edge_key.weight'])(
    'a weight: %s',
    (name) => {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
        const run = (poisoned: boolean) => {
          const policy = tinyPolicy(options)
          const learner = new PolicyLearner(policy)
          learner.update(drawGroup(policy, 1))
          const good = policy.parameters.read()
          const groups = [2, 3].map((seed) => drawGroup(policy, seed))
          expect(groups[0]!.trajectories.some((steps) => steps.length > 2)).toBe(true)
          if (poisoned) {
            const bad = structuredClone(good)
            bad.get(name)!.data[0] = value
            policy.parameters.write(bad)
            const moments = learner.adam.read()
            expect(() => learner.update(groups[0]!)).toThrow(/the loss is|the gradient of/)
            expect(policy.parameters.read()).toEqual(bad)
            expect(learner.adam.read()).toEqual(moments)
            policy.parameters.write(good)
          }
          learner.update(groups[1]!)
          return stateOf(learner)
        }
        expect(run(true)).toEqual(run(false))
      }
    },
  )

  test.each([
    'position_emb.weight',
    'granularity_emb.weight',
    'empty_graph',
    'gru.bias_hh',
    'node_norm.weight',
  ])('a gradient of a tensor that is no matrix, however large: %s', (name) => {
    const large = { ...options, dimensions: { ...options.dimensions, maxUnits: 1100, maxDepth: 2200 } }
    const policy = tinyPolicy(large)
    const learner = new PolicyLearner(policy)
    const before = policy.parameters.read()
    learner.accumulateGradients(drawGroup(tinyPolicy(options), 1))
    policy.workspace.gradients(policy.parameters.tensor(name)).fill(Number.NEGATIVE_INFINITY, -1)
    expect(() => learner.applyGradients()).toThrow(`the gradient of ${name} is -Infinity`)
    expect(policy.parameters.read()).toEqual(before)
  })

  test('gradients that are gathered in several steps', () => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    const before = policy.parameters.read()
    const overflowing = withAdvantage(drawGroup(policy, 2), 1e300)
    learner.accumulateGradients(overflowing)
    // The second group does not reach the encoder, and says nothing about the gradients that lie there.
    const stop = { trajectories: [[step([], { type: 'stop' as const })]], advantages: [[0.5]] }
    learner.accumulateGradients(drawGroup(policy, 3, stop))
    expect(() => learner.applyGradients()).toThrow('the gradient of')
    expect(policy.parameters.read()).toEqual(before)
  })

  test('a gradient whose square overflows leaves finite moments, which decay', () => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    learner.update(withAdvantage(drawGroup(policy, 2), 1e25))
    const large = learner.adam.read().second
    expect(large.every(Number.isFinite)).toBe(true)
    expect(large.some((value) => value > 1e38)).toBe(true)
    learner.update(drawGroup(policy, 3))
    const { second } = learner.adam.read()
    expect(second.every((value, index) => value <= large[index]! || large[index]! < 1)).toBe(true)
    expect([...policy.parameters.read().values()].every(({ data }) => data.every(Number.isFinite))).toBe(true)
  })
})

describe('a group that cannot have happened is refused and changes nothing', () => {
  const refuse = (change: Partial<RecordedGroup>) => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    const before = policy.parameters.read()
    const mark = policy.workspace.mark()
    let message = ''
    try {
      learner.update(drawGroup(policy, 1, change))
    } catch (error) {
      message = (error as Error).message
    }
    expect(policy.parameters.read()).toEqual(before)
    expect(learner.adam.read().step).toBe(0)
    expect([...policy.workspace.gradients(policy.parameters.block)].every((value) => value === 0)).toBe(true)
    expect(policy.workspace.mark()).toBe(mark)
    return message
  }
  const one = (entry: RecordedGroup['trajectories'][0][0]) => ({ trajectories: [[entry]], advantages: [[1]] })
  const full = [unit, unit, unit]

  test('an advantage is missing', () => {
    expect(refuse({ advantages: [[1]] })).toContain('Action 1 of trajectory 0 has no advantage')
  })

  test('an action is illegal where it was taken', () => {
    expect(refuse(one(step([], add({ ...unit, predecessors: [0] }))))).toContain(
      'predecessor 0 is not an existing unit',
    )
    expect(refuse(one(step([], add({ ...unit, realization: 'group' }))))).toContain('alone cannot be group')
    expect(refuse({ ...one(step([], add(unit))), restriction: 'all-group' })).toContain(
      'alone cannot be added',
    )
    expect(refuse(one(step(full, add(unit))))).toContain('alone cannot be added here')
    expect(refuse(one(step([], add({ ...unit, role: 'nobody' }))))).toContain("no role 'nobody'")
  })

  test('a graph is none of this library', () => {
    expect(refuse(one(step([{ ...unit, realization: 'group' }], { type: 'stop' })))).toContain(
      'alone has no group realization',
    )
    expect(refuse(one(step([...full, unit], { type: 'stop' })))).toContain('4 units exceeds the limit of 3')
  })

  test('a mask does not fit', () => {
    const masked = { ...step([unit], { type: 'stop' }), dropoutKeep: [new Uint8Array(3)] }
    expect(refuse(one(masked))).toContain('4 entries for each of 1 units')
  })

  test('there is no position, or no temperature', () => {
    expect(refuse({ trajectories: [], advantages: [] })).toContain('the loss is NaN')
    expect(refuse({ temperature: 0 })).toContain('must be above 0')
  })
})

test('memory does not grow over 200 updates, and construction sees every one of them', () => {
  const policy = tinyPolicy(options)
  const learner = new PolicyLearner(policy, { adam: { ...paperAdam, learningRate: 0.01 } })
  learner.update(drawGroup(policy, 0))
  const mark = policy.workspace.mark()
  const { byteLength } = policy.workspace.kernels.memory.buffer
  for (let index = 0; index < 200; index += 1) learner.update(drawGroup(policy, index % 7))
  expect(policy.workspace.mark()).toBe(mark)
  expect(policy.workspace.kernels.memory.buffer.byteLength).toBe(byteLength)
  // The tables follow the weights: a fresh policy with the same weights builds the same graphs.
  const values = [...policy.parameters.read()].map(
    ([name, { shape, data }]) => [name, { shape, data: Float64Array.from(data) }] as const,
  )
  const fresh = tinyPolicy(options, new Map(values))
  for (const seed of [1, 2, 3]) {
    expect(drawGroup(policy, seed)).toEqual(drawGroup(fresh, seed))
    const logits = (asked: ConstructionPolicy) =>
      asked.inspect(numbersLike(3, seed, 1), AgentGraph.of([unit, other])).logits
    expect(logits(policy)).toEqual(logits(fresh))
  }
})

test('two learners with the same history are equal to the last bit', () => {
  const run = () => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    const reports = Array.from({ length: 10 }, (_, index) => learner.update(drawGroup(policy, index)))
    return { reports, weights: policy.parameters.read(), adam: learner.adam.read() }
  }
  expect(run()).toEqual(run())
})
