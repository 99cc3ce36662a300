import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultKinds } from '../server/faults.ts'
import { constants, costConstants, kindConstants, toolGain, toolGains } from './constants.ts'
import { questionKinds } from './question-kind.ts'
import { roleProfiles } from './role-profile.ts'

const page = readFileSync(new URL('../../../docs/simulated-model.md', import.meta.url), 'utf8')

/** The cells of the table row that starts with this name. */
function cellsOf(name: string): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`))
  expect(rows, name).toHaveLength(1)
  return rows[0]!
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim())
}

test('the page lists every constant with its value in the code', () => {
  for (const [name, value] of [...Object.entries(constants), ...Object.entries(costConstants)])
    expect(cellsOf(name)[0], name).toBe(written(value))
})

test('the page lists kinds, roles, tools and faults', () => {
  for (const [kind, { ability, spread, divisible }] of Object.entries(kindConstants))
    expect(cellsOf(kind).slice(0, 3)).toEqual([ability, spread, divisible].map(String))
  for (const [role, { job, suits }] of roleProfiles)
    expect(cellsOf(role)).toEqual([job, ...questionKinds.map((kind) => String(suits[kind]))])
  for (const tool of Object.keys(toolGains))
    expect(cellsOf(tool)).toEqual(questionKinds.map((kind) => String(toolGain(tool, kind))))
  for (const [fault, what] of Object.entries(faultKinds)) expect(cellsOf(fault)).toEqual([what])
})

/** Text like `0.5`, `0.5, 0.2`, or `plan 0.6 / 0.75, solve 1`. */
function written(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, part]) => `${name} ${Array.isArray(part) ? part.join(' / ') : part}`)
    .join(', ')
}
