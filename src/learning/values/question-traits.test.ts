import { expect, test } from 'vitest'
import type { Task } from '../../library/task.ts'
import { questionTraits } from './question-traits.ts'
import { textTraits } from './text-traits.ts'

const task = (id: string, question: string, more: Partial<Task> = {}): Task => ({
  id,
  question,
  metadata: {},
  ...more,
})
const tasks = Array.from({ length: 20 }, (_, index) =>
  task(
    `${index}`,
    'word '.repeat(1 + index),
    index % 2 === 0 ? { tables: [{ name: 't', rows: [['1']] }] } : {},
  ),
)

test('traits have mean 0 and deviation 1 over the training questions', () => {
  const traits = questionTraits(tasks, () => 'number')
  expect(traits.names).toEqual(['tables', 'words'])
  const rows = tasks.map(traits.of)
  for (const column of traits.names.keys()) {
    const values = rows.map((row) => row[column]!)
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9)
    expect(values.reduce((sum, value) => sum + value * value, 0) / values.length).toBeCloseTo(1, 9)
  }
})

test('traits that nearly all or nearly no questions have are dropped; a question may have none', () => {
  const { names, of } = questionTraits(
    [...tasks, task('x', 'word', { options: [{ label: 'A', text: 'yes' }] })],
    (one) => (one.tables === undefined ? 'text' : 'number'),
  )
  expect(names).toEqual(['answer number', 'answer text', 'tables', 'words'])
  expect(of(task('new', ''))).toHaveLength(4)
})

test('finds the directions in which the questions’ vectors differ most', () => {
  const vectors = Array.from({ length: 30 }, (_, index) => [index % 2, (index % 3) / 10, 5])
  const traits = textTraits(vectors)
  expect(traits[0]!.length).toBe(2)
  const [first, second] = [Math.sign(traits[0]![0]!), Math.sign(traits[1]![0]!)]
  for (const [index, trait] of traits.entries())
    expect(Math.sign(trait[0]!)).toBe(index % 2 === 0 ? first : second)
})
