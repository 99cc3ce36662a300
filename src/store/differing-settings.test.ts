import { expect, test } from 'vitest'
import { differingSettings } from './differing-settings.ts'

test('lists exactly the differing paths', () => {
  const one = { seed: 1, rewards: { beta: 0.1, eta: 1 }, roles: ['a', 'b'], updates: 3 }
  const other = { seed: 1, rewards: { beta: 0.2, eta: 1 }, roles: ['a'], note: null }
  expect(differingSettings([one, other])).toEqual([
    { name: 'rewards.beta', values: [0.1, 0.2] },
    { name: 'roles', values: [['a', 'b'], ['a']] },
    { name: 'updates', values: [3, undefined] },
    { name: 'note', values: [undefined, null] },
  ])
})

test('undefined counts as not set', () => {
  expect(differingSettings([{ updates: undefined }, {}])).toEqual([])
  expect(differingSettings([{ a: 1 }])).toEqual([])
  expect(differingSettings([])).toEqual([])
})
