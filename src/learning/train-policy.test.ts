import { expect, test } from 'vitest'
import { learningOptions as options } from '../../test/recorded-groups.ts'
import { numbersLike, tinyPolicy } from '../../test/tiny-policy.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { rewardSettings } from '../settings/rewards.ts'
import { PolicyLearner } from './policy-learner.ts'
import { type FinishedUpdate, type TrainPolicyOptions, trainPolicy } from './train-policy.ts'

const queries = ['a', 'b', 'c', 'd', 'e'].map((id, index) => ({
  id,
  embedding: numbersLike(3, index + 1, 1),
}))

/** A world that rewards one thing: a group among the units. */
const evaluate = async (graph: AgentGraph) => ({
  score: graph.units.some(({ realization }) => realization === 'group') ? 1 : 0,
})

const given: TrainPolicyOptions = {
  seed: 7,
  queries,
  dataVersion: 'v1',
  passes: 2,
  rewards: rewardSettings(),
  evaluate,
}

test('goes through the queries in order, once per pass, with falling temperature', async () => {
  const seen: FinishedUpdate[] = []
  const learner = new PolicyLearner(tinyPolicy(options))
  expect(await trainPolicy(learner, { ...given, onUpdate: (update) => void seen.push(update) })).toBe(10)
  expect(seen.map(({ query }) => query).join('')).toBe('abcdeabcde')
  expect(seen.map(({ update }) => update)).toEqual([...Array(10).keys()])
  expect(seen[0]!.temperature).toBe(1.2)
  expect(seen[9]!.temperature).toBe(1)
  expect(seen.every(({ trajectories }) => trajectories.length === 2)).toBe(true)
  expect(learner.adam.read().step).toBe(10)
})

test('a training that is cut off after any update and resumed ends with the same weights, to the bit', async () => {
  const start = () => new PolicyLearner(tinyPolicy(options))
  const whole = start()
  await trainPolicy(whole, given)
  for (const stopAfter of [1, 4, 9]) {
    const controller = new AbortController()
    const first = start()
    const reference = first.policy.parameters.read()
    const stop = ({ update }: FinishedUpdate) => {
      if (update + 1 === stopAfter) controller.abort()
    }
    const done = await trainPolicy(first, { ...given, onUpdate: stop, signal: controller.signal })
    expect(done).toBe(stopAfter)
    const policy = tinyPolicy(options)
    const second = new PolicyLearner(policy, { reference: policy.freeze(reference) })
    policy.parameters.write(first.policy.parameters.read())
    second.adam.write(first.adam.read())
    expect(await trainPolicy(second, { ...given, done })).toBe(10)
    expect(policy.parameters.read()).toEqual(whole.policy.parameters.read())
    expect(second.adam.read()).toEqual(whole.adam.read())
  }
})

test('learns what is rewarded', async () => {
  const share = async (updates: number) => {
    const learner = new PolicyLearner(tinyPolicy(options), {
      adam: { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
    })
    const seen: FinishedUpdate[] = []
    const keep = (update: FinishedUpdate) => void seen.push(update)
    await trainPolicy(learner, { ...given, passes: updates / 5, trajectories: 8, onUpdate: keep })
    const scores = seen
      .slice(-10)
      .flatMap(({ trajectories }) => trajectories.map(({ terminalScore }) => terminalScore))
    return scores.reduce((sum, score) => sum + score, 0) / scores.length
  }
  expect(await share(100)).toBeGreaterThan((await share(10)) + 0.1)
})

test('two queries of one id are refused', async () => {
  const learner = new PolicyLearner(tinyPolicy(options))
  await expect(trainPolicy(learner, { ...given, queries: [...queries, queries[0]!] })).rejects.toThrow(
    'same id',
  )
})
