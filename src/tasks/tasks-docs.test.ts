import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfiguration, ownTasksOf, resolveConfiguration } from '../configuration/configuration.ts'
import { configurationSchema } from '../configuration/configuration-schema.ts'
import { answerKinds } from './own/answer-kind.ts'
import { ownTaskSet } from './own/own-task-set.ts'
import { questionSchema } from './own/question.ts'

// Keeps docs/tasks.md accurate.

const page = readFileSync(new URL('../../docs/tasks.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, of, block]) => (of === language ? [block!] : []))

/** The first column of the table under a heading. */
function named(heading: string): string[] {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
}

describe('docs/tasks.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tasks-docs-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  /** An example from the page, importing the sources instead of the package. */
  const example = (name: string, block: string) => {
    const source = (path: string) => new URL(path, import.meta.url).href
    const packages = {
      'magic-agents': 'magic-agents.ts',
      zod: 'zod.ts',
    }
    write(
      'magic-agents.ts',
      `export { defineTasks } from '${source('../tasks/own/define-tasks.ts')}'
       export { schemaContract } from '${source('../library/answer-contract.ts')}'\n`,
    )
    write('zod.ts', `export { z } from '${import.meta.resolve('zod')}'\n`)
    const local = Object.entries(packages).reduce(
      (text, [from, to]) => text.replaceAll(`from '${from}'`, `from './${to}'`),
      block,
    )
    return loadConfiguration(write(name, local))
  }

  test('names the existing fields', () => {
    expect(named('Question files')).toEqual(Object.keys(questionSchema.shape))
    expect(named('Kinds of answer')).toEqual([...answerKinds])
    expect(named('Configuration')).toEqual(Object.keys(configurationSchema.shape))
  })

  test('shows valid question files', async () => {
    const lines = await ownTaskSet({ files: write('a.jsonl', blocks('json')[0]!) })
    expect(lines.answerKind).toBe('number')
    const table = await ownTaskSet({ files: write('a.csv', blocks('csv')[0]!) })
    expect(table.answerKind).toBe('option')
    const tasks = Object.values(table.splits).flatMap((split) => split.tasks)
    expect(tasks.map(({ metadata }) => metadata)).toEqual([{ topic: 'physics' }, { topic: 'physics' }])
    const references = Object.values(table.splits).flatMap((split) => [...split.references])
    expect(new Map(references)).toEqual(
      new Map([
        ['1', { kind: 'choice', label: 'C' }],
        ['2', { kind: 'choice', label: 'A' }],
      ]),
    )
  })

  test('shows valid configurations', async () => {
    const [plain, fromCode, own, ...rest] = blocks('ts')
    expect(rest).toEqual([])
    expect(await example('plain.ts', plain!)).toMatchObject({ name: 'support-desk', budget: { cost: 5 } })
    const sums = await ownTasksOf(await example('code.ts', fromCode!))
    expect(sums!.splits['train']!.tasks).toHaveLength(70)
    expect(sums!.splits['test']!.tasks).toHaveLength(30)
    const places = [10, 20].map((latitude) => ({
      question: `${latitude}?`,
      answer: { latitude, longitude: 0 },
    }))
    write('places.jsonl', places.map((row) => JSON.stringify(row)).join('\n'))
    const set = (await ownTasksOf(await example('places.ts', own!)))!
    const [reference] = set.splits['train']!.references.values()
    const solution = set.scorer.solution!(reference!)!.answer as { latitude: number; longitude: number }
    expect(await set.scorer.score(solution, reference!, {})).toEqual({ score: 1, parse: 'ok' })
    const near = { ...solution, longitude: 0.25 }
    expect(await set.scorer.score(near, reference!, {})).toEqual({ score: 0.75, parse: 'ok' })
  })

  test('shows the real message', () => {
    const [shown] = blocks('').filter((block) => block.startsWith('magic.config.ts'))
    const wrong = { training: { trajectories: 1 }, modle: 'simulated' }
    expect(() => resolveConfiguration(wrong, '/home/ada/desk/magic.config.ts')).toThrow(shown!.trimEnd())
  })
})
