import { expect, test } from 'vitest'
import type { Task } from '../library/task.ts'
import { syntheticTaskSet } from '../simulator/questions/synthetic-task-set.ts'
import { contractFor } from './contract-for.ts'

const set = syntheticTaskSet({ train: 5, test: 5 })
const task = (more: Partial<Task>): Task => ({ id: 'x', question: 'How many?', metadata: {}, ...more })
const tables = [{ name: 'T', rows: [['1']] }]

test.each([
  [{}, 'numeric-string'],
  [{ tables }, 'numeric-string'],
  [{ tables, question: 'All are even.' }, 'boolean-string'],
  [{ options: [{ label: 'A', text: '1' }] }, 'option-label'],
  [{ program: { mode: 'stdin', starterCode: '' } }, 'code-string'],
  [{ metadata: { family: 'choice' } }, 'option-label'],
] as [Partial<Task>, string][])('%j asks for %s', (more, contract) => {
  expect(contractFor(set, task(more)).name).toBe(contract)
})

test("the set's own contract takes precedence", () => {
  for (const known of set.splits['test']!.tasks) expect(contractFor(set, known)).toBe(set.contractOf(known))
  const broken = {
    ...set,
    contractOf: () => {
      throw new RangeError('broken')
    },
  }
  expect(() => contractFor(broken, task({}))).toThrow('broken')
})
