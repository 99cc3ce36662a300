import { expect, test } from 'vitest'
import { runOrganisation } from '../../test/organisations/organisation-run.ts'
import { direct } from './direct.ts'

test('makes one call without predecessors', async () => {
  const { calls, answer, execution } = await runOrganisation(direct, {}, () => 42)
  expect(calls).toEqual([{ who: 'direct', hears: [], temperature: 0 }])
  expect(answer).toBe('42')
  expect(execution.usage.calls).toBe(1)
})
