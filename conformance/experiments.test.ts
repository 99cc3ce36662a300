import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import type { CaseResult } from './case.ts'
import { runExperimentCases } from './experiments.ts'

async function failures(folder: string): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for await (const result of runExperimentCases(folder)) results.push(result)
  return results.filter(({ failure }) => failure !== undefined)
}

/** The failures of files written for a single test. */
async function failuresOf(files: Record<string, unknown>): Promise<CaseResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'experiments-conformance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content))
  return failures(folder)
}

describeShared('experiments', () => {
  test('every golden case passes', async () => {
    expect(await failures(sharedPath('conformance', 'experiments'))).toEqual([])
  })

  test.each(['q2_table', 'd1_table', 'd3_statistics', 'sft_route', 'sft_loss'])(
    'changing an expectation in %s makes it fail',
    async (kind) => {
      const path = sharedPath('conformance', 'experiments', `${kind}.json`)
      const change = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(change)
        if (typeof value === 'object' && value !== null)
          return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, change(field)]))
        return typeof value === 'number' ? value + 1e-3 : value
      }
      const content = JSON.parse(readFileSync(path, 'utf8'), (key, value) =>
        key === 'expected' ? change(value) : value,
      )
      if (content.cases) content.cases = content.cases.slice(0, 2)
      if (content.sequences) content.sequences = content.sequences.slice(0, 1)
      expect((await failuresOf({ 'changed.json': content })).length).toBeGreaterThan(0)
    },
  )
})

test('an unexpected refusal fails, and so does a missing one', async () => {
  const refused = { name: 'refused', m: -1, executions: 2, expected: { configurations: '1' } }
  const accepted = { name: 'accepted', m: 1, executions: 2, expected: { error: true } }
  const wrong = await failuresOf({ 'd2.json': { kind: 'd2_bound', cases: [refused, accepted] } })
  expect(wrong.map(({ failure }) => failure)).toEqual([
    expect.stringContaining('it was refused: m must be a whole number'),
    'the input was not refused',
  ])
})

test('an empty, unknown or malformed file fails', async () => {
  const wrong = await failuresOf({
    'a.json': { kind: 'pareto', cases: [] },
    'b.json': { kind: 'unknown', cases: [{}] },
    'c.json': [],
  })
  expect(wrong.map(({ name }) => name)).toEqual(['a.json', 'b.json', 'c.json'])
})
