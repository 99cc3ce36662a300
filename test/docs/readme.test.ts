import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as library from '../../src/index.ts'
import { magic } from '../magic.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test('every command in the README exists', async () => {
  const shown = new Set([...readme.matchAll(/^(?:\$ )?magic ([a-z]+)/gm)].map(([, command]) => command!))
  expect(shown.size).toBeGreaterThan(8)
  const { stdout } = await magic('--help')
  for (const command of shown) expect(stdout, command).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'))
})

test('every option in the README exists for its command', async () => {
  const lines = [...readme.matchAll(/^(?:\$ )?magic ([a-z]+) (.*)$/gm)]
  for (const [, command, words] of lines) {
    const options = [...words!.split('#')[0]!.matchAll(/(?<=\s)--[a-z-]+/g)].map(([option]) => option)
    if (options.length === 0) continue
    const { stdout } = await magic(command!, '--help')
    for (const option of options) expect(stdout, `magic ${command}`).toContain(option)
  }
})

test('every name imported in the README is exported', () => {
  const imports = [...readme.matchAll(/import \{([^}]+)\} from 'magic-agents'/g)].flatMap(([, names]) =>
    names!.split(',').map((name) => name.trim()),
  )
  expect(imports.length).toBeGreaterThan(5)
  for (const name of imports) expect(Object.keys(library), name).toContain(name)
})

test('every file linked in the README exists', () => {
  for (const [, path] of readme.matchAll(/\]\((docs\/[^)#]+)\)/g))
    if (!path!.endsWith('/'))
      expect(readFileSync(new URL(`../../${path}`, import.meta.url)).length).toBeGreaterThan(0)
})
