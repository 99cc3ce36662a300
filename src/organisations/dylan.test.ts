import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type AskedCall, asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { dylan } from './dylan.ts'

const agentOf = ({ who }: AskedCall) => Number(who.split(' ')[1])

test('it stops after the third reply if three of four agree', async () => {
  const { calls, answer, execution } = await runOrganisation(dylan, {}, () => 42)
  expect(calls).toHaveLength(3)
  expect(calls.every(({ hears }) => hears.length === 0)).toBe(true)
  expect(new Set(asked(calls)).size).toBe(3)
  expect(answer).toBe('42')
  const importance = execution.notes!['importance'] as Record<string, number>
  expect(Object.values(importance)).toEqual([1 / 3, 1 / 3, 1 / 3])
  expect(execution.notes!['layers']).toBe(1)
})

test('without agreement the ranker keeps two agents by index, and importance flows back along the ratings', async () => {
  const ranked: string[] = []
  const { calls, answer, execution } = await runOrganisation(dylan, {}, (call, earlier) => {
    if (call.who === 'ranker') {
      ranked.push(...call.hears)
      // Agents 1 and 4, wherever the shuffled order put them.
      return { ranking: [1, 4].map((agent) => call.hears.findIndex((one) => one.includes(`-${agent}:`)) + 1) }
    }
    if (call.hears.length === 0) return agentOf(call)
    const inLast = earlier.some(({ who }) => who === 'ranker')
    // Layer 2: four different answers again. Layer 3: 7 and 7.
    return { answer: inLast ? '7' : String(10 + agentOf(call)), ratings: [1, 2, 3, 4] }
  })
  expect(asked(calls.slice(0, 4)).sort()).toEqual(['alpha 1', 'beta 2', 'delta 4', 'gamma 3'])
  for (const call of calls.slice(4, 8)) {
    const own = `${call.who.replace(' ', '-')} (self): ${agentOf(call)}`
    expect(call.hears).toEqual(
      ['alpha-1', 'beta-2', 'gamma-3', 'delta-4'].map((name, place) =>
        own.startsWith(name) ? own : `${name}: ${place + 1}`,
      ),
    )
  }
  expect(calls[8]!.who).toBe('ranker')
  expect([...ranked].sort()).toEqual(['alpha-1: 11', 'beta-2: 12', 'delta-4: 14', 'gamma-3: 13'])
  expect(asked(calls.slice(9)).sort()).toEqual(['alpha 1', 'delta 4'])
  expect(calls[9]!.hears).toHaveLength(4)
  expect(calls).toHaveLength(11)
  expect(answer).toBe('7')
  // Last layer: 1/2 each for agents 1 and 4. Both give ratings 1, 2, 3, 4 of 10, so layer 2 gets 0.1, 0.2,
  // 0.3, 0.4. All four agents of layer 2 rate layer 1 the same way, so layer 1 gets the same.
  const importance = execution.notes!['importance'] as Record<string, number>
  expect(importance['1']).toBeCloseTo(0.5 + 0.1 + 0.1, 12)
  expect(importance['2']).toBeCloseTo(0.2 + 0.2, 12)
  expect(importance['3']).toBeCloseTo(0.3 + 0.3, 12)
  expect(importance['4']).toBeCloseTo(0.5 + 0.4 + 0.4, 12)
})

test('an unreadable ranking is recorded; without agreement the most frequent last answer counts', async () => {
  const { answer, execution, calls } = await runOrganisation(dylan, {}, (call) =>
    call.who === 'ranker' ? 'the first two' : call.hears.length === 0 ? agentOf(call) : 20 + agentOf(call),
  )
  expect(execution.notes!['unreadable ranking']).toBe(true)
  expect(calls.filter(({ who }) => who === 'ranker')).toHaveLength(1)
  const last = calls.slice(-2)
  // Two different answers: the first in the layer's order counts.
  expect(last.map((call) => String(20 + agentOf(call)))).toContain(answer)
  expect(execution.failures.map(({ role }) => role)).toEqual(['ranker'])
})

test('the fourth is asked only if the first three disagree', async () => {
  const { calls, answer } = await runOrganisation(dylan, {}, (_, earlier) => (earlier.length === 0 ? 1 : 5))
  // Three of four agree with the fourth reply.
  expect(calls).toHaveLength(4)
  expect(answer).toBe('5')
})

test('a team of selected roles', async () => {
  const options = { teamSelection: 'paper', team: ['gamma', 'beta'] }
  const { calls } = await runOrganisation(dylan, options, () => 3)
  expect(asked(calls).sort()).toEqual(['beta 2', 'gamma 1'])
  await expect(runOrganisation(dylan, { teamSelection: 'paper' }, () => 3)).rejects.toThrow('needs a trial')
})

describe('a team selected on a trial', () => {
  const work = mkdtempSync(join(tmpdir(), 'magic-trial-'))
  afterAll(() => rmSync(work, { recursive: true, force: true }))
  const units = ['alpha', 'beta', 'gamma', 'delta'].map((role, place) => ({ role, agent: place + 1 }))
  const keep = (name: string, split: string, importances: readonly Record<string, number>[], about = {}) => {
    const folder = join(work, 'evaluations', name)
    mkdirSync(folder, { recursive: true })
    const header = { organisation: 'dylan:agents=4', split, about }
    writeFileSync(join(folder, 'evaluation.json'), JSON.stringify(header))
    const lines = importances.map((importance) => JSON.stringify({ graph: { units }, notes: { importance } }))
    writeFileSync(join(folder, 'records.jsonl'), lines.map((line) => `${line}\n`).join(''))
  }
  const select = (agents: number) =>
    runOrganisation(dylan, { teamSelection: 'paper', trial: work, agents }, () => 3)

  test('ranks by importance summed over its questions, training questions first', async () => {
    keep('test-dylan', 'test', [{ 1: 9 }])
    keep('train-dylan', 'train', [
      { 1: 0.5, 2: 0.2, 3: 0.3, 4: 0 },
      { 1: 0, 2: 0.6, 3: 0.4, 4: 0 },
    ])
    keep('train-dylan-2', 'train', [{ 4: 9 }], { teamSelection: 'paper' })
    // alpha 0.5, beta 0.8, gamma 0.7, delta 0.
    const { calls } = await select(2)
    expect(asked(calls).sort()).toEqual(['beta 1', 'gamma 2'])
  })

  test('refuses too few roles', async () => {
    await expect(select(5)).rejects.toThrow('only has the importance of 4 roles, too few for a team of 5')
  })
})
