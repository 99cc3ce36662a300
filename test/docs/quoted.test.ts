import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runSettings } from '../../src/settings/run-settings.ts'
import { settingsOf } from '../../src/settings/setting.ts'

// The docs must quote what the program really says and accepts.

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const sources = globSync(['src/**/*.ts', 'bin/*.js'], { cwd: root, exclude: ['**/*.test.ts'] })
  .map(read)
  .join('\n')

test('messages in troubleshooting.md exist in the program', () => {
  const cells = [...read('docs/troubleshooting.md').matchAll(/^\| (.+?) \| /gm)].map(([, cell]) => cell!)
  const quoted = cells
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!))
    // Commands, file names, and messages of TypeScript and Node.
    .filter((text) => text.includes(' ') && !/^(magic|npm) |^Cannot find /.test(text))
  expect(quoted.length).toBeGreaterThan(12)
  const fragments = quoted
    .flatMap((text) => text.split(/ ?… ?|^python_exec/))
    .filter((text) => text.length > 2)
  expect(fragments.filter((fragment) => !sources.includes(fragment))).toEqual([])
})

test('every --set in the docs names a setting', () => {
  const { training, execution, budget } = runSettings
  const names = new Set([
    ...settingsOf(training).map(({ key }) => key),
    ...settingsOf(execution).map(({ key }) => `execution.${key}`),
    ...settingsOf(budget).map(({ key }) => `budget.${key}`),
  ])
  const pages = globSync(['*.md', 'llms.txt', 'docs/*.md', 'examples/**/*.md'], { cwd: root }).map(read)
  const used = pages
    .flatMap((page) => [...page.matchAll(/--set((?: [\w.]+=[^\s`]+)+)/g)])
    .flatMap(([, list]) => [...list!.matchAll(/ ([\w.]+)=/g)].map(([, name]) => name!))
  expect(used.length).toBeGreaterThan(3)
  expect(used.filter((name) => !names.has(name))).toEqual([])
})
