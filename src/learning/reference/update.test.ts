import { expect, test } from 'vitest'
import { numbersLike, tinyOptions, tinyParameters } from '../../../test/tiny-policy.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { ConstructionSpace } from '../../graph/legality.ts'
import { defineRoleSpace } from '../../library/role-space.ts'
import { freshAdam } from '../../numerics/plain/adam.ts'
import { PlainNetwork } from '../../policy/reference/network.ts'
import type { RecordedGroup } from '../loss.ts'
import { plainLoss, plainUpdate } from './update.ts'

const space: ConstructionSpace = {
  roles: defineRoleSpace(
    [
      { id: 'both', atomic: true, group: true },
      { id: 'alone', atomic: true, group: false },
    ],
    (from, to) => from >= to,
  ),
  maxUnits: 3,
  maxDepth: 4,
  restriction: 'mixed',
}
const options = tinyOptions(space)
const parameters = tinyParameters(options)
const reference = new PlainNetwork(tinyParameters(options, 2), options, true)
const weights = { divergence: 0.3, entropy: 0.2 }
const adam = { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }

const first = { role: 'alone', realization: 'atomic', predecessors: [] } as const
const second = { role: 'both', realization: 'group', predecessors: [0] } as const
const keep = (...kept: number[]) => Uint8Array.from(kept)
const group: RecordedGroup = {
  query: numbersLike(3, 9, 1),
  restriction: 'mixed',
  temperature: 1.3,
  trajectories: [
    [
      { graph: AgentGraph.empty, action: { type: 'add', ...first }, dropoutKeep: [] },
      {
        graph: AgentGraph.of([first]),
        action: { type: 'add', ...second },
        dropoutKeep: [keep(1, 0, 1, 1)],
      },
      {
        graph: AgentGraph.of([first, second]),
        action: { type: 'stop' },
        dropoutKeep: [keep(1, 1, 1, 1), keep(0, 1, 1, 1)],
      },
    ],
    [{ graph: AgentGraph.empty, action: { type: 'stop' }, dropoutKeep: null }],
  ],
  advantages: [[1.5, -0.5, 0.8], [-1]],
}

test('every gradient agrees with finite differences', () => {
  const { gradients } = plainLoss(parameters, reference, group, weights)
  expect([...gradients.keys()].sort()).toEqual([...parameters.keys()].sort())
  const lossWith = (name: string, index: number, shift: number) => {
    const changed = new Map(parameters)
    const data = parameters.get(name)!.data.slice()
    data[index]! += shift
    changed.set(name, { shape: parameters.get(name)!.shape, data })
    return plainLoss(changed, reference, group, weights).loss
  }
  for (const [name, gradient] of gradients) {
    // A few entries of each tensor: the first, the last and one in between.
    for (const index of new Set([0, gradient.length >> 1, gradient.length - 1])) {
      const numeric = (lossWith(name, index, 1e-5) - lossWith(name, index, -1e-5)) / 2e-5
      expect(Math.abs(gradient[index]! - numeric), `${name}[${index}]`).toBeLessThan(1e-7)
    }
  }
})

test('the parts add up to the loss, averaged over every position', () => {
  const result = plainLoss(parameters, reference, group, weights)
  const { policyLoss, meanDivergence, meanEntropy } = result
  expect(result.loss).toBeCloseTo(policyLoss + 0.3 * meanDivergence - 0.2 * meanEntropy, 14)
  const flat = result.logProbabilities.flat()
  expect(flat).toHaveLength(4)
  const advantages = group.advantages.flat()
  expect(policyLoss).toBeCloseTo(flat.reduce((sum, log, i) => sum - log * advantages[i]!, 0) / 4, 14)
  expect(meanEntropy).toBeCloseTo(result.entropies.flat().reduce((a, b) => a + b) / 4, 14)
  expect(meanDivergence).toBeCloseTo(result.divergences.flat().reduce((a, b) => a + b) / 4, 14)
})

test('a tensor the loss does not reach has zero gradient and moves by its moments alone', () => {
  const stopOnly = { ...group, trajectories: [group.trajectories[1]!], advantages: [[-1]] }
  const [, trained] = plainUpdate({ parameters, adam: freshAdam }, reference, group, weights, adam)
  const [loss, after] = plainUpdate(trained, reference, stopOnly, weights, adam)
  expect(loss.gradients.get('gru.weight_ih')!.every((g) => g === 0)).toBe(true)
  const moved = after.parameters.get('gru.weight_ih')!.data
  expect(moved).not.toEqual(trained.parameters.get('gru.weight_ih')!.data)
  expect(after.adam.step).toBe(2)
})

test('updates lower the loss and do not modify their inputs', () => {
  const before = structuredClone(parameters)
  let training: Parameters<typeof plainUpdate>[0] = { parameters, adam: freshAdam }
  const losses: number[] = []
  for (let step = 0; step < 5; step += 1) {
    const [{ loss }, next] = plainUpdate(training, reference, group, weights, adam)
    losses.push(loss)
    training = next
  }
  expect(losses).toEqual(losses.toSorted((a, b) => b - a))
  expect(parameters).toEqual(before)
})

test('a policy equal to its reference has zero divergence', () => {
  const same = new PlainNetwork(parameters, options, true)
  const { divergences } = plainLoss(
    parameters,
    same,
    { ...group, trajectories: [group.trajectories[1]!] },
    weights,
  )
  expect(divergences).toEqual([[0]])
})

test('a group without positions or advantages is an error', () => {
  const loss = (change: Partial<RecordedGroup>) => () =>
    plainLoss(parameters, reference, { ...group, ...change }, weights)
  expect(loss({ trajectories: [], advantages: [] })).toThrow('no recorded position')
  expect(loss({ advantages: [[1, 1], [1]] })).toThrow('Action 2 of trajectory 0 has no advantage')
})
