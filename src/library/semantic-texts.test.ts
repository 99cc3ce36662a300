import { expect, test } from 'vitest'
import { defineLibrary } from './define-library.ts'
import { paperLibrary } from './paper-library/paper-library.ts'

const executor = (id: string, responsibility: string) => ({ id, responsibility, prompt: 'p' })

test('texts come from descriptions and responsibilities, for existing realizations only', () => {
  const { texts } = defineLibrary({
    roles: [
      { id: 'fact_checker', description: 'Checks facts.', atomic: executor('checker', 'Check each fact.') },
      {
        id: 'debate',
        description: 'Argues both sides.',
        group: {
          workers: [
            executor('pro-side', 'Argue for it.'),
            executor('con-side', 'Argue against it.'),
            executor('audience', 'Ask questions.'),
          ],
          aggregator: executor('chair', 'Decide.'),
        },
      },
    ],
  })
  expect(texts).toEqual([
    { role: 'Checks facts.', atomic: 'fact checker, one agent: Check each fact.' },
    {
      role: 'Argues both sides.',
      group:
        'debate, a group of three workers and an aggregator. pro side: Argue for it. con side: Argue against it. ' +
        'audience: Ask questions. chair: Decide.',
    },
  ])
})

test('the paper library’s texts all differ, so no two vectors coincide', () => {
  const texts = paperLibrary.texts.flatMap(({ role, atomic, group }) => [role, atomic, group])
  expect(texts).toHaveLength(42)
  expect(new Set(texts).size).toBe(42)
  expect(texts).not.toContain(undefined)
})
