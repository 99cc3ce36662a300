import { describe, expect, test } from 'vitest'
import { add, drawGroup, learningOptions as options, other, step, unit } from '../../test/recorded-groups.ts'
import { tinyPolicy } from '../../test/tiny-policy.ts'
import type { Unit } from '../graph/agent-graph.ts'
import type { RecordedGroup } from './loss.ts'
import { PolicyLearner } from './policy-learner.ts'

describe('non-finite values stop the update', () => {
  /** All state an update may change. */
  const stateOf = ({ policy, adam }: PolicyLearner) =>
    structuredClone({
      weights: policy.parameters.read(),
      gradients: policy.parameters.readGradients(),
      adam: adam.read(),
    })

  /** A learner after a good update; `spoil` must fail and leave no trace. */
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
      expectUntouched(`advantage of action 0 of trajectory 1 is ${value}`, (learner, group) =>
        learner.update(withAdvantage(group, value)),
      )
    },
  )

  test('an advantage of a forced STOP, which nothing is multiplied by', () => {
    const third: Unit = { role: 'alone', realization: 'atomic', predecessors: [] }
    const trajectories = [[step([unit, other, third], { type: 'stop' })]]
    expectUntouched('action 0 of trajectory 0', (learner, group) =>
      learner.update({ ...group, trajectories, advantages: [[Number.NaN]] }),
    )
  })

  test('an advantage so large that a gradient overflows', () => {
    expectUntouched('gradient of', (learner, group) => learner.update(withAdvantage(group, 1e300)))
  })

  test('a query', () => {
    expectUntouched('loss is NaN', (learner, group) =>
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
            expect(() => learner.update(groups[0]!)).toThrow(/loss is|gradient of/)
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
  ])('a gradient of a non-matrix tensor, however large: %s', (name) => {
    const large = { ...options, dimensions: { ...options.dimensions, maxUnits: 1100, maxDepth: 2200 } }
    const policy = tinyPolicy(large)
    const learner = new PolicyLearner(policy)
    const before = policy.parameters.read()
    learner.accumulateGradients(drawGroup(tinyPolicy(options), 1))
    policy.workspace.gradients(policy.parameters.tensor(name)).fill(Number.NEGATIVE_INFINITY, -1)
    expect(() => learner.applyGradients()).toThrow(`gradient of ${name} is -Infinity`)
    expect(policy.parameters.read()).toEqual(before)
  })

  test('gradients accumulated in several steps', () => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    const before = policy.parameters.read()
    const overflowing = withAdvantage(drawGroup(policy, 2), 1e300)
    learner.accumulateGradients(overflowing)
    // The second group does not reach the encoder, and must not judge the gradients stored there.
    const stop = { trajectories: [[step([], { type: 'stop' as const })]], advantages: [[0.5]] }
    learner.accumulateGradients(drawGroup(policy, 3, stop))
    expect(() => learner.applyGradients()).toThrow('gradient of')
    expect(policy.parameters.read()).toEqual(before)
  })

  test('a gradient whose square overflows leaves finite, decaying moments', () => {
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

describe('an impossible group is refused and changes nothing', () => {
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

  test('a missing advantage', () => {
    expect(refuse({ advantages: [[1]] })).toContain('Action 1 of trajectory 0 has no advantage')
  })

  test('an action that was illegal where it was taken', () => {
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

  test('a graph from another library', () => {
    expect(refuse(one(step([{ ...unit, realization: 'group' }], { type: 'stop' })))).toContain(
      'alone has no group realization',
    )
    expect(refuse(one(step([...full, unit], { type: 'stop' })))).toContain('4 units exceeds the limit of 3')
  })

  test('a mask that does not match', () => {
    const masked = { ...step([unit], { type: 'stop' }), dropoutKeep: [new Uint8Array(3)] }
    expect(refuse(one(masked))).toContain('4 entries for each of 1 units')
  })

  test('no position, or no temperature', () => {
    expect(refuse({ trajectories: [], advantages: [] })).toContain('loss is NaN')
    expect(refuse({ temperature: 0 })).toContain('must be above 0')
  })
})
