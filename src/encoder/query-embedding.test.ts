import { expect, test } from 'vitest'
import { tinyTaskSet } from '../../test/tiny-task-set.ts'
import type { Task } from '../library/task.ts'
import { lexicalEncoder } from './lexical-encoder.ts'
import { inputFingerprint, queryEmbedding, taskEmbedding } from './query-embedding.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

const rich: Task = {
  id: 'the-id',
  question: 'What was the change?',
  options: [
    { label: 'A', text: 'it rose' },
    { label: 'B', text: 'it fell' },
  ],
  context: ['Revenue is in millions.', 'Costs are not.'],
  tables: [{ name: 'table', caption: 'Revenue', header: ['year', 'a|b'], rows: [['2018', '120']] }],
  publicTests: [{ testtype: 'stdin', input: 'secret-free', output: '1' }],
  metadata: { subject: 'hidden-from-the-policy' },
}

const metadata = [
  'data set: tiny',
  'roles: task_decomposer, independent_solver, adversarial_verifier, logic_reasoner, quantitative_modeler, calculation_auditor',
  'tools: calculator, python_exec',
].join('\n')

/** The lexical encoder, recording the texts it reads. */
function listeningEncoder(): FrozenTextEncoder & { readonly read: string[] } {
  const read: string[] = []
  return {
    ...lexicalEncoder,
    read,
    encode: (texts) => {
      read.push(...texts)
      return lexicalEncoder.encode(texts)
    },
  }
}

test('only the question with options, the passages with tables, and the profile are read', async () => {
  const encoder = listeningEncoder()
  await queryEmbedding(rich, tinyTaskSet, encoder)
  expect(encoder.read).toEqual([
    'What was the change?\nA. it rose\nB. it fell',
    'Revenue is in millions.\n\nCosts are not.\n\ntable: Revenue\nyear | a\\|b\n2018 | 120',
    metadata,
  ])
})

test('the vectors are mixed as in the paper', async () => {
  const task: Task = { id: 't', question: 'Two and two?', context: ['Count.'], metadata: {} }
  const expected = await taskEmbedding(
    { question: 'Two and two?', context: 'Count.', metadata },
    lexicalEncoder,
  )
  expect(await queryEmbedding(task, tinyTaskSet, lexicalEncoder)).toEqual(expected)
})

test('a bare question has no context, and a profile without tools lists none', async () => {
  const encoder = listeningEncoder()
  const set = { ...tinyTaskSet, profile: { ...tinyTaskSet.profile, tools: [] } }
  await queryEmbedding({ id: 't', question: 'Why?', metadata: {} }, set, encoder)
  expect(encoder.read).toEqual(['Why?', metadata.split('\n').slice(0, 2).join('\n')])
})

test('id, task metadata and tool order do not matter', async () => {
  const other = { ...rich, id: 'another', metadata: {} }
  const set = {
    ...tinyTaskSet,
    profile: { ...tinyTaskSet.profile, tools: [...tinyTaskSet.profile.tools].reverse() },
  }
  expect(await queryEmbedding(other, set, lexicalEncoder)).toEqual(
    await queryEmbedding(rich, tinyTaskSet, lexicalEncoder),
  )
})

test('a new text version changes the input fingerprint; the first version is the encoder alone', () => {
  expect(inputFingerprint(lexicalEncoder)).toBe(lexicalEncoder.fingerprint)
  const fingerprints = [1, 2, 3].map((version) => inputFingerprint(lexicalEncoder, version))
  expect(new Set(fingerprints).size).toBe(3)
})

test('titles and cells stay on one line, and a table may lack header and caption', async () => {
  const encoder = listeningEncoder()
  const tables = [
    { name: 'a\nb', rows: [['1\r\n2', '']] },
    { name: 'c', caption: '', header: ['h'], rows: [] },
  ]
  await queryEmbedding({ id: 't', question: 'Why?', tables, metadata: {} }, tinyTaskSet, encoder)
  expect(encoder.read[1]).toBe('a b\n1 2 | \n\nc\nh')
})
