import { expect, test } from 'vitest'
import type { Task } from '../library/task.ts'
import { dataVersion } from './data-version.ts'

const task: Task = { id: 'a', question: 'Why?', metadata: { x: '1', y: '2' } }

test('changes with task and reference, not with the order of keys', () => {
  const version = dataVersion(task, { kind: 'boolean', value: true })
  expect(
    dataVersion(
      { metadata: { y: '2', x: '1' }, question: 'Why?', id: 'a' },
      { value: true, kind: 'boolean' },
    ),
  ).toBe(version)
  expect(dataVersion(task, { kind: 'boolean', value: false })).not.toBe(version)
  expect(dataVersion({ ...task, question: 'Why not?' }, { kind: 'boolean', value: true })).not.toBe(version)
  expect(dataVersion(task, undefined)).not.toBe(version)
  expect(version).toMatch(/^[0-9a-f]{64}$/)
})
