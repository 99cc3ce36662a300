import { expect, test } from 'vitest'
import { Problem } from '../problem.ts'
import { rewardSettings, rewardSettingsSchema } from './rewards.ts'

test("defaults are the paper's values", () => {
  expect(rewardSettings()).toEqual({
    alpha: 1,
    beta: 0.02,
    gammaR: 0.05,
    eta: 1,
    kappa: 1,
    u0: 0.5,
    nodeWeight: 1,
    edgeWeight: 1,
    nodeAllowance: 6,
    edgeAllowance: 6,
    epsilon: 1e-8,
    callPenalty: 0,
    tokenPenalty: 0,
  })
})

test('every setting has a description', () => {
  for (const [field, schema] of Object.entries(rewardSettingsSchema.shape)) {
    expect(schema.description, field).toMatch(/^\S.{20,}\.$/)
  }
})

test('given settings replace only their own defaults', () => {
  expect(rewardSettings({ alpha: 0, beta: 0, gammaR: 0 })).toEqual({
    ...rewardSettings(),
    alpha: 0,
    beta: 0,
    gammaR: 0,
  })
})

test.each([
  ['alpha', Number.NaN],
  ['beta', Number.POSITIVE_INFINITY],
  ['gammaR', '0.05'],
  ['eta', 1.01],
  ['eta', -0.1],
  ['kappa', -1],
  ['u0', 2],
  ['nodeWeight', -1],
  ['edgeWeight', -1],
  ['nodeAllowance', -1],
  ['edgeAllowance', -1],
  ['epsilon', -1e-8],
  ['callPenalty', -1],
  ['tokenPenalty', null],
])('%s = %s is refused by name', (field, value) => {
  expect(() => rewardSettings({ [field]: value })).toThrow(Problem)
  expect(() => rewardSettings({ [field]: value })).toThrow(`at ${field}`)
})

test('a misspelt setting is refused instead of ignored', () => {
  expect(() => rewardSettings({ gamma: 0.1 } as object)).toThrow(/"gamma"/)
})
