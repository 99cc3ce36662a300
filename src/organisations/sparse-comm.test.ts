import { expect, test } from 'vitest'
import { runOrganisation } from '../../test/organisations/organisation-run.ts'
import { sparseComm } from './sparse-comm.ts'

test('six agents on a ring: each hears itself and two neighbours', async () => {
  const { calls, answer } = await runOrganisation(sparseComm, {}, ({ who, hears }) =>
    hears.length === 0 ? Number(who.split(' ')[1]) : 4,
  )
  expect(calls).toHaveLength(12)
  const second = Object.fromEntries(calls.slice(6).map(({ who, hears }) => [who, [...hears].sort()]))
  expect(second).toEqual({
    'solver 1': ['solver (self): 1', 'solver: 2', 'solver: 6'],
    'solver 2': ['solver (self): 2', 'solver: 1', 'solver: 3'],
    'solver 3': ['solver (self): 3', 'solver: 2', 'solver: 4'],
    'solver 4': ['solver (self): 4', 'solver: 3', 'solver: 5'],
    'solver 5': ['solver (self): 5', 'solver: 4', 'solver: 6'],
    'solver 6': ['solver (self): 6', 'solver: 1', 'solver: 5'],
  })
  expect(answer).toBe('4')
})

test('other neighbourhoods', async () => {
  const options = { agents: 3, neighbours: [[1, 3]] }
  const { calls } = await runOrganisation(sparseComm, options, ({ who }) => Number(who.split(' ')[1]))
  const second = Object.fromEntries(calls.slice(3).map(({ who, hears }) => [who, hears.length]))
  expect(second).toEqual({ 'solver 1': 2, 'solver 2': 1, 'solver 3': 2 })
})
