import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readKnownTasks } from './known-tasks-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'known-tasks-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(...lines: readonly (object | string)[]): string {
  const path = join(folder, 'tasks.jsonl')
  writeFileSync(
    path,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  )
  return path
}

const task = { id: 'q1', question: 'What is 6 times 7?' }

test('duplicate fields, lone surrogates and pipes are refused', async () => {
  await expect(
    readKnownTasks(file('{"task": {"id": "a", "id": "b", "question": "?"}, "answer": 1}')),
  ).rejects.toThrow('row 1, field task.id: occurs twice')
  await expect(
    readKnownTasks(file('{"task": {"id": "\\udead", "question": "?"}, "answer": 1}')),
  ).rejects.toThrow('row 1, field task.id: contains half of a surrogate pair')
  const pipe = join(folder, 'pipe.jsonl')
  execFileSync('mkfifo', [pipe])
  await expect(readKnownTasks(pipe)).rejects.toThrow('is not a regular file')
})

test('reads tasks with their answers', async () => {
  const table = { name: 't', header: ['a'], rows: [['1']] }
  const program = { mode: 'function', starterCode: '', entryPoint: 'f' }
  const path = file(
    { task, answer: '42', wrong: ['36'] },
    { task: { ...task, id: 'q2', tables: [table], context: ['c'] }, answer: { values: ['1'], scale: '' } },
    {
      task: { ...task, id: 'q3', program, metadata: { source: 'me' } },
      answer: 'def f(): pass',
      kind: 'code',
    },
  )
  expect(await readKnownTasks(path)).toEqual([
    { task: { ...task, metadata: {} }, answer: '42', wrong: ['36'] },
    {
      task: { ...task, id: 'q2', tables: [table], context: ['c'], metadata: {} },
      answer: { values: ['1'], scale: '' },
    },
    {
      task: { ...task, id: 'q3', program, metadata: { source: 'me' } },
      answer: 'def f(): pass',
      kind: 'code',
    },
  ])
})

const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`

test.each<[string, object | string, RegExp]>([
  ['no JSON', '{"task"', /tasks\.jsonl, row 2: is not valid JSON/],
  ['no id', { task: { question: 'q' }, answer: '1' }, /row 2, field task\.id/],
  ['no question', { task: { id: 'x' }, answer: '1' }, /row 2, field task\.question/],
  ['no answer', { task: { ...task, id: 'x' } }, /row 2, field answer/],
  ['a null answer', { task: { ...task, id: 'x' }, answer: null }, /row 2, field answer/],
  ['a deep answer', `{"task":{"id":"x","question":"q"},"answer":${deep}}`, /row 2, field answer/],
  ['a misspelt field', { task: { ...task, id: 'x' }, answer: '1', wrongs: [] }, /row 2.*wrongs/],
  [
    'an odd option',
    { task: { ...task, id: 'x', options: [{ label: 'A' }] }, answer: 'A' },
    /row 2, field task\.options\[0\]\.text/,
  ],
  ['an unknown kind', { task: { ...task, id: 'x' }, answer: '1', kind: 'riddle' }, /row 2, field kind/],
  ['a duplicate id', { task, answer: '42' }, /row 2, field task\.id: Row 1 already has the id 'q1'/],
])('%s is refused with file, row and field', async (_name, line, message) => {
  await expect(readKnownTasks(file({ task, answer: '42' }, line))).rejects.toThrow(message)
})

test('a missing file is refused', async () => {
  await expect(readKnownTasks(join(folder, 'nowhere.jsonl'))).rejects.toThrow(/nowhere\.jsonl/)
})
