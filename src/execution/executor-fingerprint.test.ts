import { expect, test } from 'vitest'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { freeText, numericString } from '../library/answer-contract.ts'
import { defineLibrary } from '../library/define-library.ts'
import { executorFingerprint } from './executor-fingerprint.ts'
import { defaultSettings, executionSettings } from './settings.ts'
import { openToolbox } from './toolbox.ts'

const identity = { provider: 'p', model: 'm', options: { a: 1, b: 2 } }
const tools = openToolbox()
const base = {
  model: { identity },
  settings: defaultSettings,
  library: tinyLibrary,
  profile: tinyProfile,
  contract: freeText,
  tools,
}
const fingerprint = executorFingerprint(base)
const changed = (change: Partial<typeof base>) => executorFingerprint({ ...base, ...change }) !== fingerprint

test('everything that can change an answer changes it', () => {
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
  expect(changed({ model: { identity: { ...identity, model: 'other' } } })).toBe(true)
  expect(changed({ model: { identity: { ...identity, provider: 'other' } } })).toBe(true)
  expect(changed({ model: { identity: { ...identity, options: { a: 1, b: 3 } } } })).toBe(true)
  expect(changed({ settings: executionSettings.parse({ decoding: { temperature: 0.5 } }) })).toBe(true)
  expect(changed({ settings: executionSettings.parse({ budgets: { analysis: 500 } }) })).toBe(true)
  expect(changed({ contract: numericString })).toBe(true)
  expect(changed({ tools: { tools: new Map() } })).toBe(true)
  const described = { ...tools.tools.get('calculator')!, description: 'other words' }
  expect(changed({ tools: { tools: new Map([['calculator', described]]) } })).toBe(true)
  const { roles, prompts } = tinyLibrary
  expect(changed({ library: defineLibrary({ roles, prompts: { ...prompts, finalizer: 'Decide!' } }) })).toBe(
    true,
  )
})

test('nothing else does', () => {
  expect(changed({ model: { identity: { ...identity, options: { b: 2, a: 1 } } } })).toBe(false)
  expect(changed({ settings: executionSettings.parse({ attemptSeconds: 5, executionSeconds: 9 }) })).toBe(
    false,
  )
  expect(changed({ settings: executionSettings.parse({ traceContent: false }) })).toBe(false)
  // A tool that the profile does not switch on.
  expect(
    changed({ tools: { tools: new Map([...tools.tools].filter(([name]) => name !== 'table_reader')) } }),
  ).toBe(false)
})
