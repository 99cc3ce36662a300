import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rewardSettings } from '../settings/rewards.ts'
import { pairedUtilityGain, potentialIncrement, probeUtility } from './potential.ts'

const paper = rewardSettings()

test('the gain is the sum of paired differences over κ + |P|', () => {
  expect(pairedUtilityGain([0, 1, 0, 0], [1, 1, 1, 0], paper)).toBe(2 / 5)
  expect(pairedUtilityGain([1], [0], rewardSettings({ kappa: 0 }))).toBe(-1)
})

test('without probes the gain is 0, with smoothing or without', () => {
  expect(pairedUtilityGain([], [], paper)).toBe(0)
  expect(pairedUtilityGain([], [], rewardSettings({ kappa: 0 }))).toBe(0)
  expect(probeUtility([], rewardSettings({ kappa: 0 }))).toBe(0.5)
})

test('unpaired scores are refused', () => {
  expect(() => pairedUtilityGain([0, 1], [1], paper)).toThrow('2 before the addition and 1 after')
})

test('the gain is the difference of two utilities: the prior cancels', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(score, score), { maxLength: 6 }),
      fc.double({ min: 0, max: 10, noNaN: true }),
      score,
      (pairs, kappa, u0) => {
        const settings = rewardSettings({ kappa, u0 })
        const [parent, child] = [pairs.map(([before]) => before), pairs.map(([, after]) => after)]
        const difference = probeUtility(child, settings) - probeUtility(parent, settings)
        expect(pairedUtilityGain(parent, child, settings)).toBeCloseTo(difference, 10)
      },
    ),
  )
})

test('the increment weighs gain against added complexity and repetition', () => {
  const change = { utilityGain: 0.4, addedComplexity: 6, addedRepetition: 1 }
  expect(potentialIncrement(change, paper)).toBeCloseTo(0.4 - 0.12 - 0.05, 14)
  expect(potentialIncrement(change, rewardSettings({ alpha: 0, beta: 0, gammaR: 0 }))).toBe(0)
})
