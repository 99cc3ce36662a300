import { describe, expect, test } from 'vitest'
import { asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { autogen } from './autogen.ts'

const stops = { stop_word: 'TERMINATE', use: 'End your analysis with it if the last answer can stand.' }

describe('two agents', () => {
  test('assistant and critic alternate with the whole conversation; the last assistant message counts', async () => {
    let turn = 0
    const { calls, answer } = await runOrganisation(autogen, {}, ({ who }) => {
      turn += 1
      return who === 'critic 2' ? 100 + turn : turn
    })
    expect(calls).toEqual([
      { who: 'solver 1', hears: [], temperature: 0 },
      { who: 'critic 2', hears: ['solver-1: 1'], brief: stops, temperature: 0 },
      { who: 'solver 1', hears: ['solver-1 (self): 1', 'critic-2: 102'], temperature: 0 },
      {
        who: 'critic 2',
        hears: ['solver-1: 1', 'critic-2 (self): 102', 'solver-1: 3'],
        brief: stops,
        temperature: 0,
      },
      {
        who: 'solver 1',
        hears: ['solver-1 (self): 1', 'critic-2: 102', 'solver-1 (self): 3', 'critic-2: 104'],
        temperature: 0,
      },
    ])
    expect(answer).toBe('5')
  })

  test("the critic's stop word ends it", async () => {
    const { calls, answer } = await runOrganisation(autogen, {}, ({ who }) =>
      who === 'critic 2' ? { analysis: 'It can stand. TERMINATE', answer: '9' } : 8,
    )
    expect(asked(calls)).toEqual(['solver 1', 'critic 2'])
    expect(answer).toBe('8')
  })
})

test('round robin: roles take turns, and the last message counts even if it is no answer', async () => {
  const say = (last: number | null) =>
    runOrganisation(autogen, { preset: 'round-robin' }, ({ who }) => (who === 'omega' ? last : who.length))
  const { calls, answer } = await say(7)
  expect(calls.map(({ who, hears }) => [who, ...hears])).toEqual([
    ['alpha'],
    ['beta', 'alpha-1: 5'],
    ['gamma', 'alpha-1: 5', 'beta-2: 4'],
    ['delta', 'alpha-1: 5', 'beta-2: 4', 'gamma-3: 5'],
    ['omega', 'alpha-1: 5', 'beta-2: 4', 'gamma-3: 5', 'delta-4: 5'],
  ])
  expect(answer).toBe('7')
  expect((await say(null)).execution.status).toBe('unanswered')
})

test('selector: a call picks each speaker; an unreadable choice is noted, and the next in turn speaks', async () => {
  const picks = ['gamma', 'nobody', 'alpha']
  const { calls, answer, execution } = await runOrganisation(
    autogen,
    { preset: 'selector', turns: 3, agents: 4 },
    ({ who }) => (who === 'selector' ? { speaker: picks.shift()! } : who.length),
  )
  // The second speaker is the next in turn.
  expect(asked(calls)).toEqual(['selector', 'gamma', 'selector', 'beta', 'selector', 'alpha'])
  expect(calls[0]!.brief).toEqual({
    candidates: ['alpha', 'beta', 'gamma', 'delta'].map((role) => ({
      role,
      description: `It is the ${role}.`,
    })),
  })
  expect(calls[4]!.hears).toEqual(['gamma-2: 5', 'beta-4: 4'])
  expect(answer).toBe('5')
  expect(execution.notes).toEqual({ 'unreadable speaker': 2 })
  expect(execution.usage.calls).toBe(6)
})
