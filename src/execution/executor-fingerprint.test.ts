import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fitting, ScriptedModel, toolRequest } from '../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { freeText, numericString } from '../library/answer-contract.ts'
import { defineLibrary } from '../library/define-library.ts'
import { defaultSettings, executionSettings } from '../settings/execution.ts'
import { executeGraph } from './execute-graph.ts'
import { executorFingerprint } from './executor-fingerprint.ts'
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

test('everything that can affect an answer changes it', () => {
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
  // A tool the profile does not enable.
  expect(
    changed({ tools: { tools: new Map([...tools.tools].filter(([name]) => name !== 'table_reader')) } }),
  ).toBe(false)
})

test('a changed request requires a new format number', async () => {
  const model = new ScriptedModel((heard) =>
    heard.message.tools === undefined
      ? fitting(heard, 'x', '')
      : toolRequest('calculator', { expression: '1' }),
  )
  const task = {
    id: 't',
    question: 'q',
    options: [{ label: 'A', text: 'a' }],
    context: ['c'],
    tables: [{ name: 'n', caption: 'k', header: ['h'], rows: [['1', '2']] }],
    program: { mode: 'function', entryPoint: 'f', starterCode: 's' },
    publicTests: [{ testtype: 'functional', input: '1', output: '2' }],
    metadata: {},
  } as const
  const graph = AgentGraph.of([
    { role: 'a', realization: 'atomic', predecessors: [] },
    { role: 'a', realization: 'atomic', predecessors: [] },
    { role: 'c', realization: 'group', predecessors: [0, 1] },
  ])
  const calm = { ...tools.tools.get('calculator')!, description: 'calculates' }
  for (const run of [graph, AgentGraph.empty])
    await executeGraph({
      ...base,
      graph: run,
      task,
      model,
      tools: { tools: new Map([['calculator', calm]]) },
    })
  const requests = model.heard.map(({ raw }) => `${raw.system}\n${raw.user}`).sort()
  // If this fails, the requests have changed: raise `requestFormat`, then write the new digest here.
  expect(hash('sha256', JSON.stringify(requests), 'hex').slice(0, 16)).toBe('227fd40b2718a510')
})
