import { expect, test } from 'vitest'
import type { Task } from '../library/task.ts'
import { type TaskScorer, taskVersion } from './task-set.ts'

const scorer: TaskScorer = { version: '1', score: () => ({ score: 0, parse: 'ok' }) }
const version = (task: Task, reference: unknown) => taskVersion({ scorer }, task, reference)
const task: Task = { id: 'a', question: 'Why?', metadata: { x: '1', y: '2' } }

test('changes with task and reference, but not with key order', () => {
  const first = version(task, { kind: 'boolean', value: true })
  expect(
    version({ metadata: { y: '2', x: '1' }, question: 'Why?', id: 'a' }, { value: true, kind: 'boolean' }),
  ).toBe(first)
  expect(version(task, { kind: 'boolean', value: false })).not.toBe(first)
  expect(version({ ...task, question: 'Why not?' }, { kind: 'boolean', value: true })).not.toBe(first)
  expect(version(task, undefined)).not.toBe(first)
  expect(first).toMatch(/^[0-9a-f]{64}$/)
})
