import { expect, test } from 'vitest'
import { trainingSettings } from '../settings/training.ts'
import type { RunRecord } from './run-folder.ts'
import type { RunTools } from './run-tools.ts'
import { assertSameRun } from './same-run.ts'

const digest = (letter: string) => letter.repeat(64)
const record: RunRecord = {
  format: 'magic-run-1',
  name: 'a-run',
  createdAt: '2026-01-01T00:00:00.000Z',
  version: '1',
  source: { task: 'x' },
  tasks: { name: 't', title: 'T', metric: 'm', splits: { train: { tasks: 3, version: digest('a') } } },
  library: digest('b'),
  profile: { id: 'p', roles: ['r'], tools: ['calculator'] },
  encoder: { name: 'lexical', fingerprint: 'f' },
  model: { provider: 'p', model: 'm', options: { thinking: false } },
  executors: { text: digest('c') },
  execution: { attemptSeconds: 150 },
  training: trainingSettings.parse({}),
  budget: {},
  concurrency: 8,
  arithmetic: 'separate',
  updates: 3,
}

test('settings without influence on the weights may change', () => {
  assertSameRun(record, {
    ...record,
    name: 'moved',
    createdAt: '2027-01-01T00:00:00.000Z',
    version: '2',
    source: { task: 'elsewhere' },
    execution: { attemptSeconds: 10 },
    budget: { calls: 7 },
    concurrency: 64,
  })
  const { source: _, ...bare } = record
  assertSameRun(record, bare)
  assertSameRun(bare, record)
})

test.each<[string, Partial<RunRecord>]>([
  [
    'tasks.splits.train.version',
    { tasks: { ...record.tasks, splits: { train: { tasks: 3, version: digest('d') } } } },
  ],
  ['library', { library: digest('d') }],
  ['profile.tools', { profile: { ...record.profile, tools: [] } }],
  ['encoder.fingerprint', { encoder: { name: 'lexical', fingerprint: 'g' } }],
  ['model.options.thinking', { model: { ...record.model, options: { thinking: true } } }],
  ['executors.text', { executors: { text: digest('d') } }],
  ['training.seed', { training: { ...record.training, seed: 1 } }],
  [
    'training.rewards.alpha',
    { training: { ...record.training, rewards: { ...record.training.rewards, alpha: 9 } } },
  ],
  ['arithmetic', { arithmetic: 'fused' }],
])('a change of %s is refused by name', (field, change) => {
  expect(() => assertSameRun(record, { ...record, ...change })).toThrow(
    new RegExp(`^The run a-run cannot be resumed.*\\n  ${field.replaceAll('.', '\\.')} was .* and is `, 's'),
  )
})

const had: RunTools = { sandbox: 'bubblewrap', on: ['calculator', 'search'], off: { browse: 'none.' } }

test.each<[string, Partial<RunTools>, RegExp]>([
  [
    'is missing',
    { on: ['calculator'], off: { search: 'there is no tool of this name.' } },
    /^The run a-run was trained with search, which cannot be used here: there is no tool of this name\.$/,
  ],
  ['is new', { on: [...had.on, 'browse'] }, /was trained without browse\. Leave it out of `tools`/],
  ['runs elsewhere', { sandbox: null }, /with programs running in bubblewrap; now it would be none/],
])('a tool that %s is named before any digest', (_, change, message) => {
  const begun = { ...record, tools: had }
  const now = { ...begun, executors: { text: digest('d') }, tools: { ...had, ...change } }
  expect(() => assertSameRun(begun, now)).toThrow(message)
})

test('the reason a tool is off may change, and older runs do not list their tools', () => {
  const now = { ...record, tools: { ...had, off: { browse: 'for another reason.' } } }
  assertSameRun({ ...record, tools: had }, now)
  assertSameRun(record, now)
})

test('all differences are reported at once', () => {
  const changed = { ...record, library: digest('d'), training: { ...record.training, seed: 1, hidden: 2 } }
  expect(() => assertSameRun(record, changed)).toThrow(
    /library was.*training.seed was.*training.hidden was 256 and is 2/s,
  )
})
