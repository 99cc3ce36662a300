import { expect, test } from 'vitest'
import { asked, runOrganisation, sum } from '../../test/organisations/organisation-run.ts'
import { factsOf, graphR1 } from './graph-r1.ts'

const task = {
  ...sum,
  question: 'How many lamps did the harbour shop sell?',
  context: ['The harbour shop sold 42 lamps. The hill shop sold 7 lamps.', 'Rain fell on Monday.'],
  tables: [{ name: 'rent', header: ['shop', 'coins'], rows: [['harbour', '12']] }],
}

test('facts are sentences and rows', () => {
  expect(factsOf(task).map(({ text }) => text)).toEqual([
    'The harbour shop sold 42 lamps.',
    'The hill shop sold 7 lamps.',
    'Rain fell on Monday.',
    'rent: shop: harbour; coins: 12',
  ])
})

test('it queries, gets the nearest facts, and answers', async () => {
  const said = [
    { think: 'Look it up.', query: 'lamps that the harbour shop sold', answer: null },
    { think: 'There it is.', query: null, answer: '42' },
  ]
  const { calls, answer } = await runOrganisation(graphR1, { facts: 1 }, () => said.shift()!, { task })
  expect(calls.map(({ who, brief }) => [who, brief])).toEqual([
    ['graph-r1', { turns: [] }],
    [
      'graph-r1',
      {
        turns: [
          {
            think: 'Look it up.',
            query: 'lamps that the harbour shop sold',
            facts: ['The harbour shop sold 42 lamps.'],
          },
        ],
      },
    ],
  ])
  expect(answer).toBe('42')
})

test('without context it recalls facts first; after the last turn it stays unanswered', async () => {
  const { calls, execution, model } = await runOrganisation(graphR1, { turns: 2 }, ({ who }) =>
    who === 'recaller' ? { facts: ['Six sevens are 42.'] } : { think: 'Hm.', query: 'sevens', answer: null },
  )
  expect(asked(calls)).toEqual(['recaller', 'graph-r1', 'graph-r1'])
  expect(calls[2]!.brief).toEqual({
    turns: [{ think: 'Hm.', query: 'sevens', facts: ['Six sevens are 42.'] }],
  })
  // The last turn offers no query.
  expect(Object.keys(model.heard[2]!.message['reply'] as object)).toEqual(['think', 'answer'])
  expect(execution.status).toBe('unanswered')
})
