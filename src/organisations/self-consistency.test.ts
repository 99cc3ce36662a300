import { expect, test } from 'vitest'
import { runOrganisation } from '../../test/organisations/organisation-run.ts'
import { selfConsistency } from './self-consistency.ts'

test('direct answers at temperature 0.7, distinguished by a number, and a vote without a call', async () => {
  const said = ['41', '42', '42.0', null, '41', '42']
  const { calls, answer, execution } = await runOrganisation(
    selfConsistency,
    { answers: 6 },
    ({ who }) => said[Number(who.split(' ')[1]) - 1]!,
  )
  expect(calls).toEqual(
    [1, 2, 3, 4, 5, 6].map((agent) => ({ who: `direct ${agent}`, hears: [], temperature: 0.7 })),
  )
  // 42 three times, 41 twice, one without an answer.
  expect(answer).toBe('42')
  expect(execution.usage.calls).toBe(6)
})

test('ties go to the first answer; no answers leave the question unanswered', async () => {
  const vote = (said: readonly (string | null)[]) =>
    runOrganisation(
      selfConsistency,
      { answers: said.length },
      ({ who }) => said[Number(who.split(' ')[1]) - 1]!,
    )
  expect((await vote(['7', '8', '8', '7'])).answer).toBe('7')
  expect((await vote([null, null])).execution.status).toBe('unanswered')
})

test('its requests are those of the direct path, except for the number', async () => {
  const { model } = await runOrganisation(selfConsistency, { answers: 1 }, () => 1)
  const [{ message, raw }] = model.heard as [(typeof model.heard)[number]]
  expect(message.executor).toEqual({ id: 'direct', role: 'direct', part: 'direct', agent: 1 })
  expect(message).not.toHaveProperty('predecessors')
  expect(raw.system).toContain('one JSON object with the question under "task"')
})
