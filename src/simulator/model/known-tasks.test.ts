import { expect, test } from 'vitest'
import { questions } from '../../../test/simulated/questions.ts'
import { taskText } from '../../execution/text.ts'
import { executionSettings } from '../../settings/execution.ts'
import { KnownTasks } from './known-tasks.ts'
import { type AskedTask, askedTask } from './node-request.ts'
import { kindOf, questionKinds } from './question-kind.ts'

/** A task as a request shows it within a length budget. */
function shown(task: Parameters<typeof taskText>[0], budget: number): AskedTask {
  return askedTask(JSON.parse(`{${taskText({ ...task }, budget).text.slice(1)}}`).task)
}

const { task: usual } = executionSettings.parse({}).budgets

test('every task is found by what a request shows of it', () => {
  const all = questionKinds.flatMap((kind) => questions(kind, 60))
  const tasks = new KnownTasks(all)
  expect(tasks.size).toBe(360)
  for (const { task } of all) expect(tasks.find(shown(task, usual))?.task).toBe(task)
})

test('the kind is inferred from the task and its answer unless stated', () => {
  for (const kind of questionKinds) {
    const [known] = questions(kind, 1)
    expect(new KnownTasks([known!]).find(shown(known!.task, usual))?.kind).toBe(kind)
  }
  const stated = { ...questions('math', 1)[0]!, kind: 'knowledge' as const }
  expect(new KnownTasks([stated]).find(shown(stated.task, usual))?.kind).toBe('knowledge')
  const numeric = { question: 'What is 3 + 4?' }
  const options = ['7', '12', '1'].map((text) => ({ label: text, text }))
  expect(kindOf({ ...numeric, options }, 'label')).toBe('math')
  expect(kindOf({ ...numeric, options: [] }, 'text')).toBe('knowledge')
})

test('a task cut by a length budget is found by the rest', () => {
  const rows = (index: number) => Array.from({ length: 200 }, (_, row) => [`row ${row}`, String(row * index)])
  const all = [1, 2, 3].map((index) => ({
    task: {
      id: String(index),
      question: `Long ago ${'and far away '.repeat(200)}`,
      tables: [{ name: 'one', rows: rows(index) }],
      metadata: {},
    },
    answer: String(index),
  }))
  const tasks = new KnownTasks(all)
  for (const { task } of all) {
    const cut = shown(task, 2000)
    expect(cut.question.length).toBeLessThan(task.question.length)
    expect(tasks.find(cut)?.task).toBe(task)
  }
})

test('other questions, options or tables are unknown', () => {
  const [choice] = questions('knowledge', 1)
  const [claim] = questions('table-claim', 1)
  const tasks = new KnownTasks([choice!, claim!])
  const asked = shown(choice!.task, usual)
  expect(tasks.find({ ...asked, question: 'Another?' })).toBeUndefined()
  expect(tasks.find({ ...asked, options: asked.options.slice(1) })).toBeUndefined()
  expect(
    tasks.find({ ...asked, options: asked.options.map(({ label }) => ({ label, text: 'x' })) }),
  ).toBeUndefined()
  const { tables: _, ...without } = claim!.task
  const rows = [
    ['x', 'y'],
    ['z', 'w'],
    ['p', 'q'],
  ]
  expect(
    tasks.find(shown({ ...without, tables: [{ name: 'other', header: ['a', 'b'], rows }] }, usual)),
  ).toBeUndefined()
})

test('the fingerprint distinguishes lists of tasks', () => {
  const [first, second] = questions('math', 2)
  const one = new KnownTasks([first!, second!]).fingerprint()
  expect(new KnownTasks([first!, second!]).fingerprint()).toBe(one)
  expect(new KnownTasks([first!, { ...second!, answer: '1' }]).fingerprint()).not.toBe(one)
})
