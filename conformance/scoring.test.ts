import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import type { CaseResult } from './case.ts'
import { runScoringCases } from './scoring.ts'

async function run(folder: string): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for await (const result of runScoringCases(folder)) results.push(result)
  return results
}

describeShared('scoring', () => {
  test('every golden score and aggregate matches', async () => {
    const results = await run(sharedPath('conformance', 'scoring'))
    expect(results.filter((result) => result.failure !== undefined)).toEqual([])
    expect(results.length).toBeGreaterThan(15_000)
  })
})

async function failuresOf(rows: readonly object[]): Promise<(string | undefined)[]> {
  const folder = mkdtempSync(join(tmpdir(), 'scoring-'))
  writeFileSync(join(folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
  return (await run(folder)).map((result) => result.failure)
}

test('any wrong expectation fails', async () => {
  const choice = { benchmark: 'aqua', reference: 'b', reference_label: 'B', answer: 'B' }
  const tatqa = {
    gold: { answer_type: 'span', answer: ['the cat'], scale: '' },
    pred: { values: ['cat'], scale: '' },
    contract_valid: true,
  }
  const d1 = { gold: tatqa.gold, response: 'FINAL: The Cat.', failures: [] }
  const rows = [
    { ...choice, expect: { score: 1, parse: 'ok' } },
    { ...choice, expect: { score: 0, parse: 'ok' } },
    { ...choice, reference_label: 'C', expect: { score: 1, parse: 'ok' } },
    { ...tatqa, expect: { em: 1, f1: 1, scale_em: 1 } },
    { ...tatqa, expect: { em: 1, f1: 0.99, scale_em: 1 } },
    { ...tatqa, contract_valid: false, expect: { em: 1, f1: 1, scale_em: 1 } },
    { ...d1, expect: { extracted: 'The Cat.', score_correct: true, correct: true } },
    {
      ...d1,
      failures: ['tool_error'],
      expect: { extracted: 'The Cat.', score_correct: true, correct: true },
    },
    { surprise: true },
  ]
  const failed = (await failuresOf(rows)).map((failure) => failure !== undefined)
  expect(failed).toEqual([false, true, true, false, true, true, false, true, true])
})
