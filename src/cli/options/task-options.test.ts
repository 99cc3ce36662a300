import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openTasks, taskSource } from './task-options.ts'

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

test('a file named beside a configuration replaces its questions, not its scorer', async () => {
  const { set, configuration } = await openTasks({ tasks: other, config })
  expect(configuration?.name).toBe('sums')
  expect(count(set.splits)).toBe(12)
  expect(set.name).toBe('sums')
  expect(set.scorer.version).toMatch(/^given half/)
})

test('a file alone is scored by its type of answers', async () => {
  const { set } = await openTasks({ tasks: own })
  expect(set.name).toBe('own')
  expect(set.scorer.version).toMatch(/^own-1/)
})

test('flags for answers and split override the configuration', async () => {
  const { set } = await openTasks({ config, taskSeed: 7, answer: 'text' })
  expect(count(set.splits)).toBe(10)
  expect(set.selection).toMatchObject({ answer: 'text', split: { seed: 7 } })
  expect((await openTasks({ config })).set.selection).toMatchObject({ answer: 'number', split: { seed: 42 } })
})

test('--scorer overrides the configuration and is kept for a resume', async () => {
  const texts = join(folder, 'texts.jsonl')
  const rows = ['Rome', 'Oslo', 'Bonn'].map((answer) => ({ question: `Where is ${answer}?`, answer }))
  writeFileSync(texts, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const source = taskSource(texts, { config, scorer: 'contains' })
  expect(source).toMatchObject({ tasks: texts, scorer: 'contains' })
  expect((await openTasks(source)).set.scorer.version).toMatch(/^given contains-1/)
  const judged = taskSource(texts, { judge: 'Right if it names the town.' })
  expect(judged.scorer).toEqual({ judge: 'Right if it names the town.' })
  expect(taskSource(texts, { scorer: 'judge', judge: 'Right if it names the town.' })).toEqual(judged)
  expect((await openTasks(judged)).set.scorer.judge).toContain('Right if it names the town.')
  // The answers are numbers, so "contains" does not apply.
  await expect(openTasks(taskSource(own, { scorer: 'contains' }))).rejects.toThrow('must be a text')
})

test('missing or conflicting scorer flags are refused', async () => {
  expect(() => taskSource(own, { scorer: 'judge' })).toThrow('--judge')
  expect(() => taskSource(own, { scorer: 'regex', judge: 'Right if short.' })).toThrow(
    '--judge and --scorer regex exclude each other',
  )
  await expect(openTasks(taskSource('synthetic', { scorer: 'regex' }))).rejects.toThrow(
    '--scorer is for your own questions; synthetic has its own scorer.',
  )
})
