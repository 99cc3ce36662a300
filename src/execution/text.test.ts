import { expect, test } from 'vitest'
import { optionLabel, valuesAndScale } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { codePoints } from './length-budget.ts'
import { requirementText, taskText, taskView } from './text.ts'

function read(task: Task, budget = 100_000): unknown {
  return (JSON.parse(`{"a":1${taskText(task, budget).text}}`) as { task: unknown }).task
}

test('contains everything public, but neither id nor metadata', () => {
  const task: Task = {
    id: 'secret-id',
    question: 'Which?',
    options: [{ label: 'A', text: 'this' }],
    context: ['One.', 'Two.'],
    tables: [
      {
        name: 't',
        caption: 'Sales',
        header: ['Year', '2019'],
        rows: [
          ['Revenue', '1,2'],
          ['a|b', 'c\nd'],
        ],
      },
      { name: 'u', rows: [['x']] },
    ],
    program: { mode: 'function', entryPoint: 'f', starterCode: 'def f(): ...' },
    publicTests: [{ testtype: 'functional', input: '1', output: '2' }],
    metadata: { subject: 'hidden-subject' },
  }
  expect(read(task)).toEqual({
    question: 'Which?',
    options: [{ label: 'A', text: 'this' }],
    context: ['One.', 'Two.'],
    tables: 't: Sales\nYear | 2019\nRevenue | 1,2\na\\|b | c d\n\nu\nx',
    program: { mode: 'function', entry_point: 'f', starter_code: 'def f(): ...' },
    public_tests: [{ input: '1', output: '2' }],
  })
  expect(taskText(task, 100_000).text).not.toMatch(/secret-id|hidden-subject/)
})

test('omits what a task does not have', () => {
  expect(read({ id: 't', question: 'q', metadata: {} })).toEqual({ question: 'q' })
  const program = { mode: 'stdin', starterCode: '' } as const
  expect(read({ id: 't', question: 'q', context: [], tables: [], program, metadata: {} })).toEqual({
    question: 'q',
    program: { mode: 'stdin' },
  })
})

test('shows starter code that is the question once, unless told to repeat it', () => {
  const program = { mode: 'function', entryPoint: 'f', starterCode: 'def f(): ...' } as const
  const task = { id: 't', question: program.starterCode, program, metadata: {} }
  expect(taskView(task)['program']).toEqual({ mode: 'function', entry_point: 'f' })
  expect(taskText(task, 1000).text).not.toContain('starter_code')
  expect(taskText(task, 1000, true).text).toContain('"starter_code":"def f(): ..."')
})

test('a long task is cut in its longest texts and keeps its question', () => {
  const task = { id: 't', question: 'What now?', context: ['x'.repeat(1_000_000), 'short'], metadata: {} }
  const view = read(task, 2000) as { question: string; context: string[] }
  expect(codePoints(JSON.stringify(view))).toBeLessThanOrEqual(2000)
  expect(view).toMatchObject({ question: 'What now?', context: [expect.stringContaining('[cut: '), 'short'] })
})

test('is computed once per task and budget', () => {
  const task = { id: 't', question: 'q', metadata: {} }
  expect(taskText(task, 5000)).toBe(taskText(task, 5000))
  expect(taskText({ ...task }, 5000)).toEqual(taskText(task, 5000))
})

test('the requirement includes an example', () => {
  const read = (json: string) =>
    (JSON.parse(`{"a":1${json}}`) as { answer_requirement: string }).answer_requirement
  expect(read(requirementText(optionLabel).text)).toBe(
    `${optionLabel.requirement} Its form, for example: "A"`,
  )
  expect(read(requirementText(valuesAndScale).text)).toContain('{"values":["15.64"],"scale":"percent"}')
})
