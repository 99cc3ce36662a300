import { expect, test } from 'vitest'
import { rewardSettings } from '../settings/rewards.ts'
import { shapingReward, terminalReward, terminalShapingReward } from './rewards.ts'

test('an addition stores the discounted new potential less the old one', () => {
  expect(shapingReward(0.2, 0.6, rewardSettings())).toBeCloseTo(0.4, 14)
  expect(shapingReward(0.2, 0.6, rewardSettings({ eta: 0.5 }))).toBeCloseTo(0.1, 14)
})

test('STOP pays back the whole potential, of either sign, and plain zero for none', () => {
  expect(terminalShapingReward(0.6)).toBe(-0.6)
  expect(terminalShapingReward(-0.1)).toBe(0.1)
  expect(terminalShapingReward(0)).toBe(0)
})

test('the terminal reward is the score unless calls or tokens are penalised', () => {
  const usage = { calls: 5, tokens: 2000 }
  expect(terminalReward(0.75, undefined, rewardSettings())).toBe(0.75)
  expect(terminalReward(0.75, usage, rewardSettings())).toBe(0.75)
  const penalised = rewardSettings({ callPenalty: 0.01, tokenPenalty: 1e-4 })
  expect(terminalReward(0.75, usage, penalised)).toBeCloseTo(0.75 - 0.05 - 0.2, 14)
})

test('a penalty without recorded usage is an error, never a silent zero', () => {
  const penalised = rewardSettings({ callPenalty: 0.01 })
  expect(() => terminalReward(1, undefined, penalised)).toThrow('no terminalUsage to charge')
})
