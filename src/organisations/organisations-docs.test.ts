import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { organisations } from './list.ts'

const docs = readFileSync(new URL('../../docs/organisations.md', import.meta.url), 'utf8')

test.each(organisations.map((one) => [one.name, one] as const))(
  'docs/organisations.md describes %s',
  (_, one) => {
    const { name, category, fidelity, description, source, differences } = one
    const kind = `${one.drive === undefined ? 'organises' : 'drives'}${one.learner === undefined ? '' : ', learns'}`
    const told = [`\`${name}\``, category, kind, fidelity, description, source, differences.join(' ') || '–']
    expect(docs).toContain(`| ${told.join(' | ')} |\n`)
  },
)

test('names are unique and can be written in a list with options', () => {
  const names = organisations.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9-]+$/)
})
