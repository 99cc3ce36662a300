import { expect, test } from 'vitest'
import { asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { bigmas } from './bigmas.ts'

const design = {
  nodes: [
    { id: 'a', role: 'thinker', description: 'Thinks.' },
    { id: 'b', role: 'writer', description: 'Writes.' },
  ],
  edges: [
    ['a', 'b'],
    ['b', 'a'],
  ],
  source: 'a',
  sink: 'b',
  work: { notes: [] },
  contract: { a: { reads: [], writes: ['work.notes'] }, b: { reads: ['work.notes'], writes: ['answer'] } },
}

test('a design, nodes that write to the workspace, and an orchestrator after every node', async () => {
  const { calls, answer, execution } = await runOrganisation(bigmas, {}, ({ who }, earlier) => {
    if (who === 'designer') return design
    if (who === 'thinker') return { path: 'work.notes', action: 'append', payload: 'six sevens' }
    if (who === 'writer') return { path: 'answer', action: 'set', payload: '42' }
    return { next: asked(earlier).includes('writer') ? 'END' : 'b' }
  })
  expect(asked(calls)).toEqual(['designer', 'thinker', 'orchestrator', 'writer', 'orchestrator'])
  // A node sees the fields in its contract.
  expect(calls[1]!.brief).toEqual({
    ...{ node: 'a', description: 'Thinks.', reads: [], writes: ['work.notes'] },
    workspace: { work: { notes: [] } },
  })
  const noted = {
    work: { notes: ['six sevens'] },
    system: { history: [{ node: 'a', wrote: 'work.notes' }] },
    answer: null,
  }
  // The writer is the only successor until there is an answer.
  expect(calls[2]!.brief).toEqual({ current: 'a', successors: ['b'], workspace: noted })
  expect(calls[3]!.brief).toEqual({
    ...{ node: 'b', description: 'Writes.', reads: ['work.notes'], writes: ['answer'] },
    workspace: { work: { notes: ['six sevens'] }, answer: null },
  })
  expect(calls[4]!.brief).toMatchObject({ current: 'b', successors: ['a', 'END'] })
  expect(answer).toBe('42')
  expect(execution.usage.calls).toBe(5)
})

test('a refused write is corrected twice; running out of steps leads to the fallback', async () => {
  const { calls, answer, execution } = await runOrganisation(bigmas, { steps: 2 }, ({ who, brief }) => {
    if (who === 'designer') return design
    if (who === 'thinker')
      return brief!['problem'] === undefined
        ? { path: 'work.other', action: 'set', payload: 'x' }
        : { path: 'work.notes', action: 'append', payload: 'y' }
    if (who === 'writer') return { path: 'answer', action: 'set', payload: 'forty-two' }
    return who === 'fallback' ? { answer: '41' } : { next: 'b' }
  })
  expect(asked(calls)).toEqual([
    'designer',
    ...['thinker', 'thinker', 'orchestrator'],
    ...['writer', 'writer', 'writer', 'orchestrator'],
    'fallback',
  ])
  expect(calls[2]!.brief!['problem']).toBe('You may write work.notes, not work.other.')
  expect(calls[5]!.brief!['problem']).toContain('no answer')
  expect(answer).toBe('41')
  expect(execution.notes).toEqual({ 'unreadable orchestration': true, fallback: true })
})

test('an unreadable design is repaired once, then the question stays unanswered', async () => {
  const { calls, execution } = await runOrganisation(bigmas, {}, () => ({ ...design, sink: 'nobody' }))
  expect(asked(calls)).toEqual(['designer', 'designer'])
  expect(execution.status).toBe('unanswered')
  expect(execution.usage.calls).toBe(2)
})
