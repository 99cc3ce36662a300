import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import type { BenchmarkName } from '../benchmarks/list.ts'
import { benchmarkNames } from '../benchmarks/list.ts'
import type { Reference } from '../scoring/reference.ts'
import { membership, splitOf, type TaskSet } from '../task-set.ts'
import { type BenchmarkOptions, benchmarkTaskSet } from './benchmark-task-set.ts'

const data = sharedPath('data')
const open = (name: BenchmarkName, options: BenchmarkOptions = {}) =>
  benchmarkTaskSet(name, { data, ...options })
const ids = (set: TaskSet<Reference>, split: string) => splitOf(set, split).tasks.map(({ id }) => id)

describeShared('the eight benchmarks on the shared data', () => {
  const goldens = (): Record<string, Record<string, string[]>> =>
    JSON.parse(readFileSync(sharedPath('conformance', 'sampling', 'memberships.json'), 'utf8'))

  test.each([
    ['mmlu_pro', 100, 500, undefined],
    ['strategyqa', 100, 500, undefined],
    ['aqua', 100, 254, /^Trains on aqua dev and evaluates on aqua test; the paper trains on aqua train/],
    ['gsm8k', 100, 1319, undefined],
    ['humaneval', 8, 164, /^Trains on livecodebench sample and evaluates on humaneval test;/],
    ['livecodebench', 4, 4, /^Trains on a part of livecodebench sample and evaluates on the rest;/],
    ['tatqa', 100, 1663, /^Trains on tatqa dev .* the 1,663 of tatqa_dataset_test_gold\.json/],
    ['tabfact', 100, 500, /^Trains on tabfact dev /],
  ] as const)('%s: %i to train, %i to evaluate', async (name, training, evaluation, deviation) => {
    const set = await open(name)
    expect([set.name, set.profile.id]).toEqual([name, name])
    expect(set.library.roles.map(({ id }) => id).sort()).toEqual([...set.profile.roles].sort())
    expect([ids(set, 'train').length, ids(set, 'test').length]).toEqual([training, evaluation])
    expect(new Set([...ids(set, 'train'), ...ids(set, 'test')]).size).toBe(training + evaluation)
    for (const { tasks, references } of Object.values(set.splits))
      expect([...references.keys()]).toEqual(tasks.map(({ id }) => id))
    const told = set.selection['deviation']
    if (deviation === undefined) expect(told).toBeUndefined()
    else expect(told).toMatch(deviation)
  })

  test('Q1 selects the golden examples', async () => {
    const golden = goldens()
    for (const name of ['mmlu_pro', 'strategyqa'] as const) {
      const set = await open(name)
      expect(ids(set, 'train')).toEqual(golden[`${name}_q1`]!['train_ids'])
      expect(ids(set, 'test')).toEqual(golden[`${name}_q1`]!['eval_ids'])
    }
    expect(ids(await open('gsm8k'), 'train')).toEqual(golden['gsm8k_q1_train']!['train_ids'])
    const tabfact = await open('tabfact')
    expect(ids(tabfact, 'train')).toEqual(golden['tabfact_stand_in_train']!['train_ids'])
    expect(ids(tabfact, 'test')).toEqual(golden['tabfact_q1_test']!['eval_ids'])
  })

  test.each(['mmlu_pro', 'tatqa'] as const)('%s: Q2, Q3 and D1 select the golden examples', async (name) => {
    const golden = goldens()
    const q2 = await open(name, { study: 'q2' })
    expect(ids(q2, 'train')).toEqual(golden[`${name}_q2`]!['train_ids'])
    expect(ids(q2, 'test')).toEqual(golden[`${name}_q2`]!['eval_ids'])
    const q3 = await open(name, { study: 'q3' })
    expect(ids(q3, 'train')).toEqual(golden[`${name}_q2`]!['train_ids'])
    expect(ids(q3, 'test')).toEqual(golden[`${name}_q3`]!['eval_ids'])
    const d1 = await open(name, { study: 'd1' })
    expect(ids(d1, 'test')).toEqual(golden[`${name}_d1`]!['ids'])
    expect(Object.keys(d1.splits)).toEqual(['test'])
    expect(d1.metric).toBe('accuracy')
  })

  test.each(['mmlu_pro', 'tatqa'] as const)(
    '%s: in D1 a right answer counts as wrong if a node failed',
    async (name) => {
      const { scorer, splits } = await open(name, { study: 'd1', test: 1 })
      const [reference] = splits['test']!.references.values()
      const { answer } = scorer.solution!(reference!)!
      expect(await scorer.score(answer, reference!, { failures: 0 })).toMatchObject({ score: 1 })
      expect(await scorer.score(answer, reference!, { failures: 1 })).toMatchObject({
        score: 0,
        measures: { beforeFailures: 1 },
      })
    },
  )

  test('the selection lists the questions Q2 discards', async () => {
    const { eval: evaluation, train } = goldens()['tatqa_q2']!['discarded_ids'] as unknown as Record<
      string,
      string[]
    >
    const set = await open('tatqa', { study: 'q2' })
    expect(set.selection['discarded']).toEqual([...evaluation!, ...train!])
  })

  test.each(benchmarkNames.filter((name) => name !== 'humaneval' && name !== 'livecodebench'))(
    '%s: its solutions score 1 and fit the contract; missing and nonsense answers score 0',
    async (name) => {
      const set = await open(name)
      const nonsense: JsonValue[] = ['', ' ', '?', null, 1, true, [], {}, { values: [], scale: '' }]
      for (const { tasks, references } of Object.values(set.splits))
        for (const task of tasks) {
          const reference = references.get(task.id)!
          const { answer } = set.scorer.solution!(reference)!
          expect(set.contractOf(task).check(answer).verdict, task.id).toBe('fits')
          expect(await set.scorer.score(answer, reference, {}), task.id).toMatchObject({
            score: 1,
            parse: 'ok',
          })
          for (const wrong of nonsense)
            expect(await set.scorer.score(wrong, reference, {})).toMatchObject({ score: 0, parse: 'invalid' })
        }
    },
  )

  test('every public TAT-QA answer scores 1 by the official measure, and D1’s by its own', async () => {
    const all = await open('tatqa', { split: { train: 'dev', test: 'dev' } })
    const gold = [...all.splits['train']!.references, ...all.splits['test']!.references]
    expect(gold).toHaveLength(1668)
    for (const [id, reference] of gold) {
      const { answer } = all.scorer.solution!(reference)!
      expect(await all.scorer.score(answer, reference, {}), id).toMatchObject({ score: 1 })
    }
    const d1 = await open('tatqa', { study: 'd1' })
    for (const [task, reference] of splitOf(d1, 'test').tasks.map(
      (one) => [one, splitOf(d1, 'test').references.get(one.id)!] as const,
    )) {
      const { answer } = d1.scorer.solution!(reference)!
      expect(d1.contractOf(task).check(answer).verdict).toBe('fits')
      expect(await d1.scorer.score(answer, reference, {}), task.id).toMatchObject({ score: 1 })
      expect(await d1.scorer.score('no such thing', reference, {})).toMatchObject({ score: 0 })
      expect(await d1.scorer.score({ values: ['1'], scale: '' }, reference, {})).toMatchObject({ score: 0 })
    }
  })

  test('a smaller size takes the first of the selected examples and reads only those', async () => {
    const whole = await open('gsm8k')
    const part = await open('gsm8k', { train: 7, test: 3 })
    expect(ids(part, 'train')).toEqual(ids(whole, 'train').slice(0, 7))
    expect(ids(part, 'test')).toEqual(ids(whole, 'test').slice(0, 3))
    expect(part.selection).toMatchObject({
      pools: [
        { pool: 'gsm8k train', examples: 7473, leftAside: 7466 },
        { pool: 'gsm8k test', examples: 1319, leftAside: 1316 },
      ],
      train: { selected: 100, used: 7 },
      test: { selected: 1319, used: 3 },
    })
    const alone = await open('humaneval', { train: 0, test: 2 })
    expect(alone.splits['train']!.tasks).toEqual([])
    expect(alone.files.map(({ path }) => path)).toEqual(['humaneval/HumanEval.jsonl.gz'])
    expect(alone.selection['deviation']).toBeUndefined()
  })

  test('another seed selects other examples', async () => {
    const set = await open('mmlu_pro', { seed: 7 })
    expect(set.selection['seed']).toBe(7)
    expect(ids(set, 'train')).not.toEqual(ids(await open('mmlu_pro'), 'train'))
  })

  test('statements without their table are refused with the remedy', async () => {
    await expect(open('tabfact', { seed: 7 })).rejects.toThrow(
      /selected examples of tabfact .* have no table, '.*' for one\. Get all tables with `magic data pull tabfact`/,
    )
  })

  test.each(benchmarkNames)('%s: its membership is reproducible', async (name) => {
    const [first, second] = [membership(await open(name)), membership(await open(name))]
    expect(first).toEqual(second)
    expect(first['versions']).toEqual({
      train: expect.stringMatching(/^[0-9a-f]{64}$/),
      test: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const files = first['files'] as readonly JsonObject[]
    const readme = readFileSync(sharedPath('data', 'README.md'), 'utf8')
    for (const { path, sha256 } of files) {
      expect(path).not.toMatch(/^[/.]/)
      expect(readme).toContain(`\`${sha256}\``)
    }
  })
})

describe('invalid options are refused', () => {
  test.each([
    ['gsm8k', { study: 'q2' }, /The study q2 uses mmlu_pro and tatqa only; gsm8k is in q1/],
    ['tatqa', { study: 'd1', split: { test: 'test' } }, /'split' goes with q1/],
    ['tatqa', { study: 'q3' }, /lacks tatqa\/tatqa_dataset_dev\.json/],
    ['gsm8k', { train: -1 }, /train must be a whole number, 0 or more; it is -1/],
    ['gsm8k', { test: 1.5 }, /test must be a whole number/],
    ['gsm8k', { seed: Number.NaN }, /seed must be a whole number/],
  ] as const)('%s %j', async (name, options, message) => {
    await expect(benchmarkTaskSet(name, { data: '/nowhere', ...options })).rejects.toThrow(message)
  })
})
