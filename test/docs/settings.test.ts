import { expect, test } from 'vitest'
import { settingsPage, withTables } from '../../scripts/settings-docs.ts'
import { settable } from '../../src/settings/run-settings.ts'

test('docs/settings.md is up to date', () => {
  expect(settingsPage, 'run `npm run docs:settings`').toBe(withTables(settingsPage))
  for (const key of ['rewards.beta', 'decoding.temperature', 'minutes', 'concurrency'])
    expect(settingsPage).toContain(`| \`${key}\` |`)
})

test('every setting has a one-sentence description', () => {
  for (const { key, description } of settable.values()) expect(description, key).toMatch(/^\S.{15,}\.$/)
})
