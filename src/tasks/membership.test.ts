import { expect, test } from 'vitest'
import { freeText } from '../library/answer-contract.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { membership, splitVersion, type TaskSet } from './task-set.ts'

const task = (id: string) => ({ id, question: `What is ${id}?`, metadata: {} })

const set: TaskSet<string> = {
  name: 'letters',
  title: 'Letters',
  metric: 'accuracy',
  library: paperLibrary,
  profile: { id: 'letters', roles: [], tools: [] },
  scorer: { version: '1', score: () => ({ score: 0, parse: 'ok' }) },
  splits: {
    train: {
      tasks: [task('b'), task('a')],
      references: new Map([
        ['a', 'A'],
        ['b', 'B'],
      ]),
    },
    test: { tasks: [task('c')], references: new Map([['c', 'C']]) },
  },
  selection: { study: 'own' },
  files: [{ path: 'letters.jsonl', bytes: 3, sha256: '0'.repeat(64) }],
  contractOf: () => freeText,
}

test('records ids in order, versions, selection and files, but no answers', () => {
  const record = membership(set)
  expect(record).toEqual({
    taskSet: 'letters',
    selection: { study: 'own' },
    splits: { train: ['b', 'a'], test: ['c'] },
    versions: { train: splitVersion(set, 'train'), test: splitVersion(set, 'test') },
    files: [{ path: 'letters.jsonl', bytes: 3, sha256: '0'.repeat(64) }],
  })
  expect(JSON.parse(JSON.stringify(record))).toEqual(record)
})
