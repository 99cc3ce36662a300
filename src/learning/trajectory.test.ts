import { expect, test } from 'vitest'
import type { Action } from '../graph/legality.ts'
import { rewardSettings } from '../settings/rewards.ts'
import { NonFiniteError } from './finite.ts'
import { returnsToGo } from './returns.ts'
import { creditTrajectory, type ScoredConstruction } from './trajectory.ts'

const paper = rewardSettings()
const stop: Action = { type: 'stop' }
const add = (role: string, ...predecessors: number[]): Action => ({
  type: 'add',
  role,
  realization: 'group',
  predecessors,
})

/** Two groups of the same role, the second listening to the first, with two probes. */
const scored: ScoredConstruction = {
  query: 'q1',
  probes: ['p1', 'p2'],
  actions: [add('solve'), add('solve', 0), stop],
  forcedStop: false,
  transitions: [
    { parentScores: [0, 0], childScores: [1, 0] },
    { parentScores: [1, 0], childScores: [1, 1] },
  ],
  terminalScore: 1,
}

test('credits every addition and settles at STOP', () => {
  const trajectory = creditTrajectory(scored, rewardSettings({ eta: 0.5 }))
  const [first, second] = trajectory.transitions
  expect(first).toMatchObject({ complexity: 0, repetition: 0, addedComplexity: 0, addedRepetition: 0 })
  expect(first!.utilityGain).toBeCloseTo(1 / 3, 14)
  expect(first!.potential).toBeCloseTo(1 / 3, 14)
  expect(first!.reward).toBeCloseTo(1 / 6, 14)
  expect(second).toMatchObject({ complexity: 5, repetition: 1, addedComplexity: 5, addedRepetition: 1 })
  expect(second!.increment).toBeCloseTo(1 / 3 - 0.1 - 0.05, 14)
  expect(second!.potential).toBeCloseTo(2 / 3 - 0.15, 14)
  expect(second!.graph.units).toEqual([
    { role: 'solve', realization: 'group', predecessors: [] },
    { role: 'solve', realization: 'group', predecessors: [0] },
  ])
  expect(trajectory.terminal_reward).toBe(1)
  expect(trajectory.terminal_shaping_reward).toBe(-second!.potential)
})

test('the gain is the sum of paired differences over κ + |P|, and 0 without probes even when κ is 0', () => {
  const gainOf = (parentScores: number[], childScores: number[], kappa: number) => {
    const probes = parentScores.map((_, probe) => `p${probe}`)
    const one = {
      ...scored,
      probes,
      actions: [add('solve'), stop],
      transitions: [{ parentScores, childScores }],
    }
    return creditTrajectory(one, rewardSettings({ kappa })).transitions[0]!.utilityGain
  }
  expect(gainOf([0, 1, 0, 0], [1, 1, 1, 0], 1)).toBe(2 / 5)
  expect(gainOf([1], [0], 0)).toBe(-1)
  expect(gainOf([], [], 1)).toBe(0)
  expect(gainOf([], [], 0)).toBe(0)
})

test('STOP pays back the whole potential, of either sign', () => {
  const worse = {
    ...scored,
    transitions: scored.transitions.map(({ parentScores, childScores }) => ({
      parentScores: childScores,
      childScores: parentScores,
    })),
  }
  const { transitions, terminal_shaping_reward } = creditTrajectory(worse, paper)
  expect(transitions.at(-1)!.potential).toBeLessThan(0)
  expect(terminal_shaping_reward).toBe(-transitions.at(-1)!.potential)
})

test('an immediate STOP has no potential and gets the direct answer’s score', () => {
  const trajectory = creditTrajectory({ ...scored, actions: [stop], transitions: [] }, paper)
  expect(trajectory).toMatchObject({ transitions: [], terminal_reward: 1, terminal_shaping_reward: 0 })
  expect(returnsToGo(trajectory)).toEqual([1])
})

test('a forced STOP is still an action with its own return', () => {
  const free = creditTrajectory(scored, paper)
  const forced = creditTrajectory({ ...scored, forcedStop: true }, paper)
  expect(forced.forcedStop).toBe(true)
  expect(forced.actions.at(-1)).toEqual(stop)
  expect(returnsToGo(forced)).toHaveLength(3)
  expect(returnsToGo(forced)).toEqual(returnsToGo(free))
})

test('a penalty reduces the terminal reward and leaves the shaping unchanged', () => {
  const used = { ...scored, terminalUsage: { calls: 9, tokens: 4000 } }
  const trajectory = creditTrajectory(used, rewardSettings({ callPenalty: 0.01 }))
  expect(trajectory.terminal_reward).toBeCloseTo(0.91, 14)
  expect(trajectory.terminal_shaping_reward).toBe(creditTrajectory(scored, paper).terminal_shaping_reward)
})

test('calls and tokens each have a penalty weight; missing usage is an error', () => {
  const penalised = rewardSettings({ callPenalty: 0.01, tokenPenalty: 1e-4 })
  const used = { ...scored, terminalScore: 0.75, terminalUsage: { calls: 5, tokens: 2000 } }
  expect(creditTrajectory(used, penalised).terminal_reward).toBeCloseTo(0.75 - 0.05 - 0.2, 14)
  expect(creditTrajectory(used, paper).terminal_reward).toBe(0.75)
  expect(() => creditTrajectory(scored, penalised)).toThrow('no terminalUsage to charge')
})

test('a recorded trajectory can be credited again, after JSON and with other settings', () => {
  const trajectory = creditTrajectory(scored, paper)
  const recorded = JSON.parse(JSON.stringify(trajectory))
  expect(creditTrajectory(recorded, recorded.settings)).toEqual(trajectory)
  const finalRewardOnly = rewardSettings({ alpha: 0, beta: 0, gammaR: 0 })
  expect(returnsToGo(creditTrajectory(recorded, finalRewardOnly))).toEqual([1, 1, 1])
})

test.each([
  [{ actions: [add('solve')] }, 'last action is not STOP'],
  [{ actions: [] }, 'last action is not STOP'],
  [{ actions: [add('solve'), stop, stop] }, 'goes on after STOP at action 1'],
  [{ actions: [stop] }, '0 additions but probe scores of 2'],
  [{ probes: ['p1'] }, 'action 0 has 2 parent scores for 1 probes'],
])('an incomplete trajectory is refused: %j', (wrong, problem) => {
  const credit = () => creditTrajectory({ ...scored, ...wrong }, paper)
  expect(credit).toThrow('Not a complete trajectory')
  expect(credit).toThrow(problem)
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a score of %s is refused with its position',
  (value) => {
    const [first, second] = scored.transitions
    const parent = { ...scored, transitions: [{ ...first!, parentScores: [value, 0] }, second!] }
    expect(() => creditTrajectory(parent, paper)).toThrow(NonFiniteError)
    expect(() => creditTrajectory(parent, paper)).toThrow(
      `parent score on probe p1, at action 0, is ${value}`,
    )
    const child = { ...scored, transitions: [first!, { ...second!, childScores: [1, value] }] }
    expect(() => creditTrajectory(child, paper)).toThrow(`child score on probe p2, at action 1, is ${value}`)
    expect(() => creditTrajectory({ ...scored, terminalScore: value }, paper)).toThrow(
      `terminal score on q1, at action 2, is ${value}`,
    )
  },
)

test('settings that overflow the potential are refused with the position', () => {
  const enormous = rewardSettings({ nodeWeight: 1e308, beta: 1e308 })
  expect(() => creditTrajectory(scored, enormous)).toThrow('potential after action 1 is -Infinity')
})
