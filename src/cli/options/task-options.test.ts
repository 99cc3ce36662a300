import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openTasks } from './task-options.ts'

const folder = mkdtempSync(join(tmpdir(), 'task-options-'))
afterAll(() => rmSync(folder, { recursive: true }))

function questions(name: string, count: number): string {
  const path = join(folder, name)
  const rows = Array.from({ length: count }, (_, n) => ({ question: `What is ${n} + 1?`, answer: n + 1 }))
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return path
}

const own = questions('own.jsonl', 10)
const other = questions('other.jsonl', 12)
const config = join(folder, 'magic.config.mjs')
writeFileSync(
  config,
  `export default { name: 'sums', tasks: 'own.jsonl', scorer: { score: () => 0.5, version: 'half' } }\n`,
)

function count(splits: Readonly<Record<string, { readonly tasks: readonly unknown[] }>>): number {
  return Object.values(splits).reduce((sum, { tasks }) => sum + tasks.length, 0)
}

test('a file that is named beside a configuration takes the place of its questions, not of its scorer', async () => {
  const { set, configuration } = await openTasks({ tasks: other, config })
  expect(configuration?.name).toBe('sums')
  expect(count(set.splits)).toBe(12)
  expect(set.name).toBe('sums')
  expect(set.scorer.version).toMatch(/^given half/)
})

test('a file alone is scored by the kind of its answers', async () => {
  const { set } = await openTasks({ tasks: own })
  expect(set.name).toBe('own')
  expect(set.scorer.version).toMatch(/^own-1/)
})

test('flags about answers and the draw count before the configuration', async () => {
  const { set } = await openTasks({ config, taskSeed: 7, answer: 'text' })
  expect(count(set.splits)).toBe(10)
  expect(set.selection).toMatchObject({ answer: 'text', split: { seed: 7 } })
  expect((await openTasks({ config })).set.selection).toMatchObject({ answer: 'number', split: { seed: 42 } })
})
