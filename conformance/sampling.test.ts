import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import type { CaseResult } from './case.ts'
import { runSamplingCases } from './sampling.ts'

async function run(folder: string): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for await (const result of runSamplingCases(folder)) results.push(result)
  return results
}

describeShared('sampling', () => {
  test('every golden draw and membership matches', async () => {
    const results = await run(sharedPath('conformance', 'sampling'))
    expect(results.filter((result) => result.failure !== undefined)).toEqual([])
    expect(results.length).toBeGreaterThan(200)
  })
})

async function failuresOf(content: unknown): Promise<(string | undefined)[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sampling-'))
  writeFileSync(join(folder, 'cases.json'), typeof content === 'string' ? content : JSON.stringify(content))
  const results = await run(folder)
  return results.map((result) => result.failure)
}

test('a wrong draw fails with its location', async () => {
  const right = { seed: 42, first20: [0.6394267984578837] }
  const wrong = { seed: 42, first20: [0.6394267984578836] }
  expect(await failuresOf({ random: [right, wrong] })).toEqual([
    undefined,
    '[0]: expected 0.6394267984578836, got 0.6394267984578837',
  ])
})

test('a wrong membership, an unknown field and a damaged file fail', async () => {
  const entry = { pool: 'not shipped here', n: 10, seed: 42, train_indices: [1], sampled_order: [1] }
  expect(await failuresOf({ some_q1_train: { ...entry, sampled_order: [7] } })).toHaveLength(1)
  expect(await failuresOf({ some_q1_train: { ...entry, surprise: [7] } })).not.toEqual([undefined])
  expect((await failuresOf('{"random": ['))[0]).toMatch(/JSON/)
})

test('seeds beyond 2^53 are read exactly', async () => {
  // python3 -c "import random; print(random.Random(2**70 + 1).random())"
  const text = '{"random": [{"seed": 1180591620717411303425, "first20": [0.13151307736568552]}]}'
  expect(await failuresOf(text)).toEqual([undefined])
})
