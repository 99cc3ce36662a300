import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import { decodeTests } from '../sources/program-tests.ts'
import { loadSplit } from './benchmark.ts'
import { type BenchmarkName, benchmarks } from './list.ts'

describeShared('the shared data', () => {
  const data = sharedPath('data')
  const splits: [BenchmarkName, string, withTask: number, withReference: number][] = [
    ['mmlu_pro', 'test', 12032, 12032],
    ['strategyqa', 'train', 2061, 2061],
    ['strategyqa', 'dev', 229, 229],
    ['aqua', 'dev', 254, 254],
    ['aqua', 'test', 254, 254],
    ['gsm8k', 'train', 7473, 7473],
    ['gsm8k', 'test', 1319, 1319],
    ['humaneval', 'test', 164, 164],
    ['livecodebench', 'sample', 8, 8],
    ['tatqa', 'dev', 1668, 1668],
    ['tatqa', 'test', 1663, 1663],
    ['tatqa', 'test-unlabelled', 1669, 0],
  ]
  test.each(splits)('%s %s', async (benchmark, split, withTask, withReference) => {
    const warn = vi.spyOn(console, 'warn')
    const { tasks, references } = await loadSplit(data, benchmarks[benchmark], split)
    expect([tasks.size, references.size]).toEqual([withTask, withReference])
    expect(warn).not.toHaveBeenCalled()
  })

  test('TabFact has tables for the 600 statements used here', async () => {
    const test = await loadSplit(data, benchmarks.tabfact, 'test')
    const dev = await loadSplit(data, benchmarks.tabfact, 'dev')
    expect([test.ids.length, test.references.size, dev.ids.length]).toEqual([12779, 12779, 12792])
    expect(test.tasks.size).toBeGreaterThanOrEqual(500)
    expect(dev.tasks.size).toBeGreaterThanOrEqual(100)
  })

  test('no task contains its reference', async () => {
    const { tasks, references } = await loadSplit(data, benchmarks.livecodebench, 'sample')
    for (const [id, task] of tasks) {
      const reference = references.get(id)
      if (reference?.kind !== 'livecodebench') throw new Error(`no reference for ${id}`)
      const hidden = decodeTests(reference.privateTests)
      expect(hidden.length).toBeGreaterThan(0)
      for (const hiddenTest of hidden) expect(task.publicTests).not.toContainEqual(hiddenTest)
      expect(Object.keys(task).sort()).toEqual(['id', 'metadata', 'program', 'publicTests', 'question'])
    }
  })

  test('MMLU-Pro 3983 uses its index, not its letter', async () => {
    const { references } = await loadSplit(data, benchmarks.mmlu_pro, 'test')
    expect(references.get('3983')).toEqual({ kind: 'choice', label: 'B' })
  })
})

describe('a wrong split', () => {
  const root = mkdtempSync(join(tmpdir(), 'benchmark-'))
  mkdirSync(join(root, 'gsm8k'))
  writeFileSync(join(root, 'gsm8k/test.jsonl'), '{"question": "?", "answer": "#### 1"}\n')
  test('has too few examples', async () => {
    await expect(loadSplit(root, benchmarks.gsm8k, 'test')).rejects.toThrow(
      /1 examples, but the split 'test' of gsm8k has 1319/,
    )
  })
  test('has no file', async () => {
    await expect(loadSplit(root, benchmarks.gsm8k, 'train')).rejects.toThrow(
      /train\.jsonl: there is no such file/,
    )
  })
  test('is unknown', async () => {
    await expect(loadSplit(root, benchmarks.gsm8k, 'constructor')).rejects.toThrow(
      "no split 'constructor'; it has train, test",
    )
  })
})
