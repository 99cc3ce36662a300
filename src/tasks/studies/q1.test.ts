import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { benchmarks } from '../benchmarks/list.ts'
import { Pool } from './pool.ts'
import { choosePlan, requireFiles } from './q1.ts'

/** A data folder with these files, which are never opened here. */
function folderWith(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'plan-'))
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  return folder
}

const names = (plan: ReturnType<typeof choosePlan>) => [plan.train.name, plan.test.name]
const collection = ['test', 'test2', 'test3', 'test4', 'test5', 'test6'].map(
  (name) => `livecodebench/${name}.jsonl`,
)
const humaneval = 'humaneval/HumanEval.jsonl.gz'
const sample = 'livecodebench/sample.jsonl'

describe('the plan for the available files', () => {
  test.each([
    ['aqua', ['aqua/train.json', 'aqua/dev.json', 'aqua/test.json'], ['aqua train', 'aqua test']],
    ['aqua', ['aqua/dev.json', 'aqua/test.json'], ['aqua dev', 'aqua test']],
    ['livecodebench', [...collection, sample], ['livecodebench train', 'livecodebench test']],
    ['livecodebench', [collection[5]!, sample], ['livecodebench sample', 'livecodebench test']],
    ['livecodebench', [collection[0]!, collection[5]!], ['livecodebench test', 'livecodebench test']],
    ['livecodebench', [sample], ['livecodebench sample', 'livecodebench sample']],
    ['humaneval', [...collection.slice(0, 5), humaneval], ['livecodebench train', 'humaneval test']],
    ['humaneval', [sample, humaneval], ['livecodebench sample', 'humaneval test']],
    ['humaneval', [humaneval], ['humaneval test', 'humaneval test']],
    ['mmlu_pro', ['mmlu_pro/test.parquet'], ['mmlu_pro test', 'mmlu_pro test']],
  ] as const)('%s with %j', (name, files, pools) => {
    expect(names(choosePlan(folderWith(...files), benchmarks[name]))).toEqual(pools)
  })

  test('without training, training files are not required', () => {
    expect(names(choosePlan(folderWith(humaneval), benchmarks.humaneval, {}, false))).toEqual([
      'livecodebench train',
      'humaneval test',
    ])
  })
})

describe('explicitly chosen splits', () => {
  test('replace the paper’s', () => {
    const folder = folderWith('aqua/dev.json', 'aqua/test.json', sample, humaneval)
    expect(names(choosePlan(folder, benchmarks.aqua, { train: 'test' }))).toEqual(['aqua test', 'aqua test'])
    expect(names(choosePlan(folder, benchmarks.aqua, { train: 'test', test: 'dev' }))).toEqual([
      'aqua test',
      'aqua dev',
    ])
    expect(names(choosePlan(folder, benchmarks.humaneval, { train: 'livecodebench/sample' }))).toEqual([
      'livecodebench sample',
      'humaneval test',
    ])
  })
  test('have no stand-in', () => {
    const folder = folderWith('aqua/dev.json', 'aqua/test.json')
    expect(() => choosePlan(folder, benchmarks.aqua, { train: 'train' })).toThrow(/lacks aqua\/train\.json,/)
  })
  test.each([
    [{ train: 'dev' }, /strategyqa dev and strategyqa dev \+ train overlap/],
    [{ train: 'nope' }, /strategyqa has no split 'nope'; it has train, dev/],
    [{ train: 'gsm8k/train' }, /gsm8k has answers of a different form from strategyqa/],
    [{ train: 'constructor/dev' }, /names no benchmark/],
  ])('are refused: %j', (chosen, message) => {
    expect(() => choosePlan(folderWith(), benchmarks.strategyqa, chosen)).toThrow(message)
  })
})

describe('the error without a matching plan', () => {
  test('names files, commands and what the existing files allow', () => {
    const folder = folderWith('gsm8k/test.jsonl')
    expect(() => choosePlan(folder, benchmarks.gsm8k)).toThrow(
      `${folder} lacks gsm8k/train.jsonl, which this selection needs. Get what is missing with ` +
        '`magic data pull gsm8k` or `magic data import gsm8k PATH`. What is there is enough to train on a part of ' +
        "gsm8k test and evaluate the rest: choose the split 'test' for training.",
    )
    expect(() => choosePlan(folderWith('strategyqa/dev.json'), benchmarks.strategyqa)).toThrow(
      "strategyqa dev and evaluate the rest: choose the split 'dev' for training and evaluation.",
    )
  })
  test('names a stand-in that needs fewer files', () => {
    expect(() => choosePlan(folderWith(), benchmarks.humaneval)).toThrow(
      /`magic data pull livecodebench`.*`magic data pull humaneval`.*With humaneval\/HumanEval.jsonl.gz alone there is a stand-in: Trains on a part of humaneval test/,
    )
  })
  test('suggests nothing in an empty folder', () => {
    expect(() => choosePlan(folderWith(), benchmarks.gsm8k)).toThrow(/PATH`\.$/)
    expect(() => requireFiles(new Pool(folderWith(), benchmarks.tatqa, ['dev']))).toThrow(
      /lacks tatqa\/tatqa_dataset_dev\.json, .*`magic data import tatqa PATH`\.$/,
    )
  })
})
