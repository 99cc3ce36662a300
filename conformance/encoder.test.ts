import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import type { CaseResult } from './case.ts'
import { runEncoderCases } from './encoder.ts'

async function run(folder: string): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for await (const result of runEncoderCases(folder)) results.push(result)
  return results
}

describeShared('encoder', () => {
  test('every golden id sequence matches', async () => {
    const results = await run(sharedPath('conformance', 'encoder'))
    expect(results.filter(({ failure }) => failure !== undefined)).toEqual([])
    expect(results).toHaveLength(180)
  })

  test('a wrong id or a damaged line fails with its location', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'encoder-'))
    const lines = [
      '{"id":"right","text":"a","ids":[101,1037,102]}',
      '{"id":"wrong","text":"a","ids":[101,1,102]}',
      '{',
    ]
    writeFileSync(join(folder, 'cases.jsonl'), lines.join('\n'))
    const [right, wrong, damaged] = await run(folder)
    expect(right).toEqual({ name: 'right' })
    expect(wrong).toEqual({ name: 'wrong', failure: '[1]: expected 1, got 1037' })
    expect(damaged!.name).toBe('cases.jsonl:3')
    expect(damaged!.failure).toMatch(/JSON/)
  })
})
