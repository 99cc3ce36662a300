import { expect, test } from 'vitest'
import { asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { llmDebate } from './llm-debate.ts'

test('three answers, then each again with all three of the previous round in view, and a vote', async () => {
  const rounds = new Map<string, number>()
  const { calls, answer, execution } = await runOrganisation(llmDebate, {}, ({ who, hears }) => {
    rounds.set(who, (rounds.get(who) ?? 0) + 1)
    // First 1, 2 and 3; then the first two agree on 9.
    const agent = Number(who.split(' ')[1])
    return hears.length === 0 ? agent : agent < 3 ? 9 : 3
  })
  expect(asked(calls).slice(0, 3)).toEqual(['solver 1', 'solver 2', 'solver 3'])
  expect(calls.slice(0, 3).every(({ hears }) => hears.length === 0)).toBe(true)
  const second = new Map(calls.slice(3).map(({ who, hears }) => [who, [...hears].sort()]))
  expect(second.get('solver 1')).toEqual(['solver (self): 1', 'solver: 2', 'solver: 3'])
  expect(second.get('solver 2')).toEqual(['solver (self): 2', 'solver: 1', 'solver: 3'])
  expect(second.get('solver 3')).toEqual(['solver (self): 3', 'solver: 1', 'solver: 2'])
  expect(answer).toBe('9')
  expect(execution.usage.calls).toBe(6)
  expect([...rounds.values()]).toEqual([2, 2, 2])
})

test('an unreadable answer has no vote', async () => {
  const { answer, execution } = await runOrganisation(llmDebate, { rounds: 1 }, ({ who }) =>
    who === 'solver 3' ? 5 : { answer: 17 },
  )
  expect(answer).toBe('5')
  expect(execution.failures).toHaveLength(2)
})

test('programs that differ are left to the summarizer', async () => {
  const task = {
    ...{ id: 'code', question: 'Add.', metadata: {} },
    program: { mode: 'stdin', starterCode: '' } as const,
  }
  const say = (differ: boolean) =>
    runOrganisation(
      llmDebate,
      { rounds: 1 },
      ({ who }) => (who === 'finalizer' ? 77 : differ ? Number(who.split(' ')[1]) : 5),
      { task },
    )
  const differing = await say(true)
  expect(asked(differing.calls)).toEqual(['solver 1', 'solver 2', 'solver 3', 'finalizer'])
  expect(differing.answer).toBe('77')
  const agreeing = await say(false)
  expect(agreeing.calls).toHaveLength(3)
  expect(agreeing.answer).toBe('5')
})

test("diversity comes from the library's roles or a temperature", async () => {
  const roles = await runOrganisation(llmDebate, { rounds: 1, diversity: 'roles' }, () => 1)
  expect(asked(roles.calls)).toEqual(['alpha 1', 'beta 2', 'gamma 3'])
  const warm = await runOrganisation(llmDebate, { rounds: 1, diversity: 'temperature' }, () => 1)
  expect(warm.calls.map(({ temperature }) => temperature)).toEqual([0.7, 0.7, 0.7])
  expect(warm.about).toEqual({ seed: 1, rounds: 1, diversity: 'temperature' })
})
