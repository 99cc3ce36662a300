import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Comparison, tolerances } from '../../conformance/policy/tolerance.ts'
import { add, drawGroup, learningOptions as options, other, step, unit } from '../../test/recorded-groups.ts'
import { numbersLike, tinyParameters, tinyPolicy } from '../../test/tiny-policy.ts'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { paperAdam } from '../numerics/adam.ts'
import { arithmetic } from '../numerics/kernels/kernels.ts'
import { adamStep, freshAdam } from '../numerics/plain/adam.ts'
import { deriveRandom } from '../numerics/random.ts'
import { ConstructionPolicy } from '../policy/policy.ts'
import { PlainNetwork, type PlainNetworkOptions } from '../policy/reference/network.ts'
import { readCheckpoint, writeCheckpoint } from '../store/checkpoint.ts'
import { type LossWeights, paperLossWeights, type RecordedGroup } from './loss.ts'
import { PolicyLearner } from './policy-learner.ts'
import { type PlainTraining, plainLoss, plainUpdate } from './reference/update.ts'

/**
 * Runs updates on both engines and lists their differences. A small spread of weights avoids the flat tails
 * of GELU: there a gradient of 1e-9 has no correct digit in single precision, and Adam turns it into a full
 * step.
 */
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

describe('agrees with the plain update, step by step', () => {
  test.each([1, 2, 3, 4])('on groups as recorded in training (%i)', (seed) => {
    const policy = tinyPolicy(options)
    const groups = [0, 1, 2, 3, 4].map((index) => drawGroup(policy, seed * 10 + index))
    expect(differences(options, groups)).toEqual([])
  })

  test('under every restriction and temperature, with strong regularizers', () => {
    const policy = tinyPolicy(options)
    const groups = (['all-atomic', 'all-group', 'mixed'] as const).map((restriction, index) =>
      drawGroup(policy, 50 + index, { restriction, temperature: 0.5 + index }),
    )
    expect(differences(options, groups, { weights: { divergence: 0.7, entropy: 0.3 } })).toEqual([])
  })

  test('with a gain on the frozen vectors', () => {
    const gained = { ...options, gain: 6 }
    const policy = tinyPolicy(gained)
    const groups = [0, 1, 2, 3].map((index) => drawGroup(policy, 60 + index))
    expect(differences(gained, groups, { spread: 0.3 })).toEqual([])
  })

  test('with sizes that do not fill a SIMD vector', () => {
    const odd = { ...options, dimensions: { ...options.dimensions, hidden: 7 } }
    const policy = tinyPolicy(odd)
    const groups = [0, 1, 2].map((index) => drawGroup(policy, 70 + index))
    expect(differences(odd, groups, { spread: 0.4 })).toEqual([])
  })

  test('when the encoder is not reached at first', () => {
    const policy = tinyPolicy(options)
    const stop = { trajectories: [[step([], { type: 'stop' })]], advantages: [[0.7]] }
    expect(differences(options, [drawGroup(policy, 1, stop), drawGroup(policy, 2)])).toEqual([])
  })

  test('with repeated states: the empty graph, equal graphs, equal graphs with other masks', () => {
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

test('groups of several queries form one update over the mean of all positions', () => {
  const policy = tinyPolicy(options)
  const groups = [0, 1, 2].map((index) =>
    drawGroup(policy, 80 + index, {
      restriction: index === 1 ? 'all-atomic' : 'mixed',
      temperature: 1 + index,
    }),
  )
  const learner = new PolicyLearner(policy, { reference: policy.freeze(tinyParameters(options, 2)) })
  const reports = learner.updateTogether(groups)

  const parameters = tinyParameters(options)
  const reference = new PlainNetwork(tinyParameters(options, 2), options, true)
  const losses = groups.map((group) => plainLoss(parameters, reference, group, paperLossWeights))
  const positions = groups.map(({ trajectories }) => trajectories.flat().length)
  const all = positions.reduce((sum, count) => sum + count, 0)
  const meanOfAll = (numbers: readonly number[]) =>
    numbers.reduce((sum, number, index) => sum + (number * positions[index]!) / all, 0)
  const gradients = new Map(
    [...losses[0]!.gradients].map(([name, { length }]) => [
      name,
      Float64Array.from({ length }, (_, entry) =>
        meanOfAll(losses.map((loss) => loss.gradients.get(name)![entry]!)),
      ),
    ]),
  )
  const data = new Map([...parameters].map(([name, tensor]) => [name, tensor.data]))
  const [stepped] = adamStep(data, gradients, freshAdam, paperAdam)

  const comparison = new Comparison()
  const { values, weights } = tolerances.float32
  const sum = reports.reduce((total, { loss }) => total + loss, 0)
  comparison.number('loss', sum, meanOfAll(losses.map(({ loss }) => loss)), values)
  for (const [index, { logProbabilities }] of reports.entries())
    comparison.lists(`group ${index}`, logProbabilities, losses[index]!.logProbabilities, values)
  const after = policy.parameters.read()
  for (const [name, expected] of stepped) comparison.list(name, after.get(name)!.data, expected, weights)
  expect(comparison.differences).toEqual([])
})

test('a forced STOP counts in the mean and has no gradient', () => {
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
    for (const [index, value] of data.entries()) {
      const scaled = expected[index]! * (3 / 4)
      expect(Math.abs(value - scaled)).toBeLessThanOrEqual(1e-6 + 1e-5 * Math.abs(scaled))
    }
  }
  // Alone it has no gradient at all, yet the optimizer still steps.
  policy.workspace.gradients(policy.parameters.block).fill(0)
  expect(learner.update(group([[forced]], [[1]])).loss).toBe(0)
  expect(learner.adam.read().step).toBe(1)
  expect(learner.adam.read().first.every((value) => value === 0)).toBe(true)
})

describe('the reference policy', () => {
  test('stays as it was before the first update', () => {
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

  test('has zero divergence at first, without dropout', () => {
    const policy = tinyPolicy(options)
    const group = drawGroup(policy, 3, {
      trajectories: [[step([], add(unit)), step([unit], { type: 'stop' })]],
      advantages: [[1, -1]],
    })
    expect(Math.abs(new PolicyLearner(policy).update(group).meanDivergence)).toBeLessThan(1e-9)
  })

  test('can live in its own workspace', () => {
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

test('memory does not grow over 200 updates, and construction uses the latest weights', () => {
  const policy = tinyPolicy(options)
  const learner = new PolicyLearner(policy, { adam: { ...paperAdam, learningRate: 0.01 } })
  learner.update(drawGroup(policy, 0))
  const mark = policy.workspace.mark()
  const { byteLength } = policy.workspace.kernels.memory.buffer
  for (let index = 0; index < 200; index += 1) learner.update(drawGroup(policy, index % 7))
  expect(policy.workspace.mark()).toBe(mark)
  expect(policy.workspace.kernels.memory.buffer.byteLength).toBe(byteLength)
  // The tables follow the weights: a new policy with the same weights builds the same graphs.
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

test('discarding gradients does not change an update by a bit', () => {
  const start = () => {
    const policy = tinyPolicy(options)
    return { policy, learner: new PolicyLearner(policy) }
  }
  const [fast, watched] = [start(), start()]
  for (let update = 0; update < 10; update += 1) {
    // Without units the encoder is not reached: its moments decay either way.
    const group = drawGroup(fast.policy, update)
    const report = fast.learner.update(group)
    expect(watched.learner.accumulateGradients(group)).toEqual(report)
    watched.learner.applyGradients()
    expect(fast.policy.parameters.read()).toEqual(watched.policy.parameters.read())
    expect(fast.learner.adam.read()).toEqual(watched.learner.adam.read())
  }
  const kept = [...fast.policy.parameters.readGradients().values()].flatMap(({ data }) => [...data])
  expect(kept.every((value) => value === 0)).toBe(true)
})

test('two learners with the same history are bit-identical', () => {
  const run = () => {
    const policy = tinyPolicy(options)
    const learner = new PolicyLearner(policy)
    const reports = Array.from({ length: 10 }, (_, index) => learner.update(drawGroup(policy, index)))
    return { reports, weights: policy.parameters.read(), adam: learner.adam.read() }
  }
  expect(run()).toEqual(run())
})

test('a saved and restored learner continues identically', async () => {
  const root = mkdtempSync(join(tmpdir(), 'resume-'))
  const folder = join(root, 'latest')
  const initial = tinyParameters(options)
  const identity = { dimensions: options.dimensions, library: 'tiny', encoder: 'none', arithmetic }
  const begin = () => {
    const policy = tinyPolicy(options, initial)
    return new PolicyLearner(policy, { reference: policy.freeze(initial) })
  }
  const resume = () => {
    const { parameters, optimizer } = readCheckpoint(folder, identity)
    const policy = new ConstructionPolicy({ ...options, vectors: options.embeddings }, parameters)
    const learner = new PolicyLearner(policy, { reference: policy.freeze(initial) })
    learner.adam.write(optimizer!)
    return learner
  }
  const run = async (interruptions: readonly number[]) => {
    let learner = begin()
    const reports: unknown[] = []
    for (let update = 0; update < 9; update += 1) {
      if (interruptions.includes(update)) {
        const { policy, adam } = learner
        const parameters = policy.parameters.read()
        await writeCheckpoint(folder, { ...identity, seed: 1, update, parameters, optimizer: adam.read() })
        learner = resume()
      }
      reports.push(learner.update(drawGroup(learner.policy, update)))
    }
    return { reports, weights: learner.policy.parameters.read(), adam: learner.adam.read() }
  }
  try {
    const undisturbed = await run([])
    for (const interruptions of [[0], [4], [1, 2, 3, 8]])
      expect(await run(interruptions)).toEqual(undisturbed)
  } finally {
    rmSync(root, { recursive: true })
  }
})
