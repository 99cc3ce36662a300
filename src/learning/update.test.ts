import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { learningOptions as options } from '../../test/recorded-groups.ts'
import { numbersLike, tinyParameters, tinyPolicy } from '../../test/tiny-policy.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import { deriveRandom } from '../numerics/random.ts'
import {
  type GivenTrainingSettings,
  recordedTrainingSettings,
  trainingSettings,
} from '../settings/training.ts'
import { PolicyLearner } from './policy-learner.ts'
import { returnsToGo } from './returns.ts'
import {
  type ScoreGraph,
  type TrainedUpdate,
  temperatureAt,
  type UpdateOptions,
  updatePolicy,
} from './update.ts'

const pool = ['a', 'b', 'c', 'd', 'e', 'f']

/** A world where every graph-task pair has a fixed score of its own. */
const scoreOf = (graph: AgentGraph, task: string) => deriveRandom(5, graphKey(graph), task).uniform()

const questions = {
  queries: pool.map((id, index) => ({ id, embedding: numbersLike(3, index + 1, 1) })),
  dataVersion: 'v1',
}

function settings(evaluate: ScoreGraph, update: number, more: GivenTrainingSettings = {}): UpdateOptions {
  const given = trainingSettings.parse({ seed: 3, trajectories: 4, probes: 2, ...more })
  return { settings: given, questions, update, updates: 12, evaluate }
}

const immediate: ScoreGraph = async (graph, task) => ({ score: scoreOf(graph, task) })

test('credits each trajectory from its prefixes’ scores on shared probes and its final score on the query', async () => {
  const learner = new PolicyLearner(tinyPolicy(options))
  const before = learner.policy.parameters.read()
  const { trajectories, advantages, report } = await updatePolicy(learner, settings(immediate, 0))
  expect(trajectories).toHaveLength(4)
  expect(new Set(trajectories.map(({ probes }) => probes.join())).size).toBe(1)
  expect(trajectories[0]!.probes).not.toContain('a')
  for (const [index, trajectory] of trajectories.entries()) {
    const graphs = trajectory.transitions.map(({ graph }) => graph)
    for (const [step, { childScores, graph }] of trajectory.transitions.entries()) {
      expect(childScores).toEqual(trajectory.probes.map((probe) => scoreOf(graph, probe)))
      expect(step === 0 || trajectory.transitions[step]!.parentScores).toEqual(
        step === 0 || trajectory.transitions[step - 1]!.childScores,
      )
    }
    const last = graphs.at(-1)
    if (last) expect(trajectory.terminalScore).toBe(scoreOf(last, 'a'))
    // Proposition 1: the total return is the score.
    expect(returnsToGo(trajectory)[0]).toBeCloseTo(trajectory.terminalScore, 12)
    expect(advantages[index]).toHaveLength(trajectory.actions.length)
  }
  expect(Number.isFinite(report.loss)).toBe(true)
  expect(learner.policy.parameters.read()).not.toEqual(before)
})

test('asks for each graph-task pair once, and only for those it needs', async () => {
  const asked: string[] = []
  const learner = new PolicyLearner(tinyPolicy(options))
  const counting: ScoreGraph = async (graph, task) => {
    asked.push(`${graphKey(graph)} ${task}`)
    return { score: scoreOf(graph, task) }
  }
  const { trajectories, evaluations } = await updatePolicy(
    learner,
    settings(counting, 0, { trajectories: 8 }),
  )
  expect(asked).toHaveLength(evaluations)
  expect(new Set(asked).size).toBe(asked.length)
  const needed = new Set(
    trajectories.flatMap(({ transitions, probes, query }) => {
      const graphs = transitions.map(({ graph }) => graph)
      const last = graphs.at(-1)
      return [
        ...graphs.flatMap((graph) => probes.map((probe) => `${graphKey(graph)} ${probe}`)),
        ...(last ? [`${graphKey(last)} ${query}`] : []),
      ]
    }),
  )
  for (const pair of needed) expect(asked).toContain(pair)
})

test('runs no probe when all trajectories stop at once', async () => {
  const stopping = new Map(tinyParameters(options))
  stopping.set('stop_head.2.bias', { shape: [1], data: Float64Array.of(100) })
  const tasks: string[] = []
  const counting: ScoreGraph = async (graph, task) => {
    tasks.push(task)
    return { score: scoreOf(graph, task) }
  }
  const learner = new PolicyLearner(tinyPolicy(options, stopping))
  const { trajectories } = await updatePolicy(learner, settings(counting, 0))
  expect(trajectories.every(({ transitions }) => transitions.length === 0)).toBe(true)
  // The empty graph on the query, shared by all four.
  expect(tasks).toEqual(['a'])
})

test('does not depend on the order in which evaluations finish', async () => {
  const run = async (delay: (task: string, index: number) => number) => {
    const learner = new PolicyLearner(tinyPolicy(options))
    let index = 0
    const late: ScoreGraph = async (graph, task) => {
      await new Promise((resolve) => setTimeout(resolve, delay(task, index++)))
      return { score: scoreOf(graph, task) }
    }
    for (let update = 0; update < 4; update += 1) await updatePolicy(learner, settings(late, update))
    return { weights: learner.policy.parameters.read(), adam: learner.adam.read() }
  }
  const inOrder = await run(() => 0)
  const random = deriveRandom(1, 'delays')
  expect(await run(() => random.uniform() * 10)).toEqual(inOrder)
  expect(await run((_, index) => 10 - (index % 10))).toEqual(inOrder)
})

describe('ablations', () => {
  test('final reward only: runs no probes, and all returns are the terminal score', async () => {
    const tasks = new Set<string>()
    const watching: ScoreGraph = async (graph, task) => {
      tasks.add(task)
      return { score: scoreOf(graph, task) }
    }
    const learner = new PolicyLearner(tinyPolicy(options))
    const { trajectories } = await updatePolicy(learner, settings(watching, 1, { finalRewardOnly: true }))
    expect([...tasks]).toEqual(['b'])
    for (const trajectory of trajectories) {
      for (const value of returnsToGo(trajectory)) expect(value).toBe(trajectory.terminalScore)
    }
  })

  test.each(['all-atomic', 'all-group'] as const)('%s builds nothing else', async (restriction) => {
    const learner = new PolicyLearner(tinyPolicy(options))
    const { trajectories } = await updatePolicy(
      learner,
      settings(immediate, 2, { restriction, trajectories: 8 }),
    )
    for (const { actions } of trajectories) {
      for (const action of actions)
        if (action.type === 'add') expect(`all-${action.realization}`).toBe(restriction)
    }
  })
})

test('a failed evaluation or a non-numeric score changes no weight', async () => {
  for (const bad of [
    async () => Promise.reject(new Error('the key was revoked')),
    async () => ({ score: Number.NaN }),
  ] satisfies ScoreGraph[]) {
    const learner = new PolicyLearner(tinyPolicy(options))
    const before = { weights: learner.policy.parameters.read(), adam: learner.adam.read() }
    await expect(updatePolicy(learner, settings(bad, 0))).rejects.toThrow(/revoked|NaN/)
    expect({ weights: learner.policy.parameters.read(), adam: learner.adam.read() }).toEqual(before)
  }
})

test('takes the queries in turn, once per pass, with falling temperature', async () => {
  const learner = new PolicyLearner(tinyPolicy(options))
  const seen: TrainedUpdate[] = []
  for (let update = 0; update < 12; update += 1)
    seen.push(await updatePolicy(learner, settings(immediate, update, { temperatureUpdates: 12 })))
  expect(seen.map(({ query }) => query).join('')).toBe('abcdefabcdef')
  expect(seen.map(({ update }) => update)).toEqual([...Array(12).keys()])
  expect(seen[0]!.temperature).toBe(1.2)
  expect(seen[11]!.temperature).toBe(1)
  expect(learner.adam.read().step).toBe(12)
})

test('learns what is rewarded', async () => {
  /** A world that rewards one thing: having a group. */
  const groups: ScoreGraph = async (graph) => ({
    score: graph.units.some(({ realization }) => realization === 'group') ? 1 : 0,
  })
  const learner = new PolicyLearner(tinyPolicy(options), {
    adam: { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
  })
  const scores: number[] = []
  for (let update = 0; update < 100; update += 1) {
    const given = { ...settings(groups, update, { trajectories: 8 }), updates: 100 }
    const { trajectories } = await updatePolicy(learner, given)
    scores.push(trajectories.reduce((sum, { terminalScore }) => sum + terminalScore, 0) / 8)
  }
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  expect(mean(scores.slice(-10))).toBeGreaterThan(mean(scores.slice(0, 10)) + 0.1)
})

const paper = trainingSettings.parse({})

test('the paper anneals from exactly 1.2 to exactly 1.0 over 100 updates', () => {
  expect(temperatureAt(0, 100, paper)).toBe(1.2)
  expect(temperatureAt(99, 100, paper)).toBe(1)
  expect(temperatureAt(33, 100, paper)).toBeCloseTo(1.2 - 0.2 / 3, 12)
  // Independent of the length of the run.
  expect(temperatureAt(33, 1000, paper)).toBe(temperatureAt(33, 100, paper))
  expect(temperatureAt(100, 1000, paper)).toBe(1)
})

const overTheRun = trainingSettings.parse({ temperatureUpdates: 0 })

test('a single update uses the start temperature, later ones the end', () => {
  expect(temperatureAt(0, 1, overTheRun)).toBe(1.2)
  expect(temperatureAt(1, 1, overTheRun)).toBe(1)
  expect(temperatureAt(100, 100, overTheRun)).toBe(1)
})

test('settings recorded by an earlier version keep their schedule over the whole run', () => {
  expect(recordedTrainingSettings.parse({ seed: 1 }).temperatureUpdates).toBe(0)
  expect(recordedTrainingSettings.parse({ temperatureUpdates: 30 }).temperatureUpdates).toBe(30)
})

test('steps are even and stay between the ends, in either direction', () => {
  const temperature = fc.double({ min: 0.1, max: 5, noNaN: true })
  fc.assert(
    fc.property(temperature, temperature, fc.integer({ min: 2, max: 300 }), (start, end, updates) => {
      const at = (update: number) =>
        temperatureAt(update, 7, {
          temperatureStart: start,
          temperatureEnd: end,
          temperatureUpdates: updates,
        })
      const step = (end - start) / (updates - 1)
      for (let update = 1; update < updates; update += 1)
        expect(at(update) - at(update - 1)).toBeCloseTo(step, 10)
      expect(at(0)).toBe(start)
      expect(at(updates - 1)).toBe(end)
    }),
    { numRuns: 50 },
  )
})
