import { expect, test } from 'vitest'
import { rewardSettings } from '../settings/rewards.ts'
import { returnsToGo } from './returns.ts'
import type { Trajectory } from './trajectory.ts'

const withRewards = (...rewards: number[]) =>
  rewards.map((reward) => ({ reward }) as Trajectory['transitions'][number])

test('the terminal terms are paid at STOP, and rewards accumulate backward', () => {
  const trajectory = {
    transitions: withRewards(0.25, -0.5),
    terminal_reward: 1,
    terminal_shaping_reward: 0.5,
  }
  expect(returnsToGo({ ...trajectory, settings: rewardSettings() })).toEqual([1.25, 1, 1.5])
  expect(returnsToGo({ ...trajectory, settings: rewardSettings({ eta: 0.5 }) })).toEqual([0.375, 0.25, 1.5])
  expect(returnsToGo({ ...trajectory, settings: rewardSettings({ eta: 0 }) })).toEqual([0.25, -0.5, 1.5])
})

test('a non-finite return is refused with its position', () => {
  const settings = rewardSettings()
  const terminal = { terminal_reward: 1, terminal_shaping_reward: 0, settings }
  expect(() => returnsToGo({ ...terminal, transitions: withRewards(0, Number.NaN, 0) })).toThrow(
    'return of action 1 is NaN',
  )
  expect(() =>
    returnsToGo({ ...terminal, transitions: [], terminal_shaping_reward: Number.POSITIVE_INFINITY }),
  ).toThrow('return of action 0 is Infinity')
})
