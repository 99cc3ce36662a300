import { expect, test } from 'vitest'
import { openToolbox } from '../execution/toolbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import { describeTools, sandboxOfRun, unstartedSandbox } from './run-tools.ts'

const profile = { tools: ['calculator', 'python_exec', 'search'] }

test("a profile's tools are listed as on or off, each with its reason", () => {
  const without = openToolbox(new SandboxUnavailable('bwrap is gone.'))
  expect(describeTools(profile, without)).toEqual({
    sandbox: null,
    on: ['calculator'],
    off: {
      python_exec: expect.stringMatching(/^bwrap is gone\. Install bubblewrap and python3/),
      search: 'there is no tool of this name: add it under `tools`.',
    },
  })
  const search = { ...without.tools.get('calculator')!, name: 'search' }
  const exec = { ...search, name: 'python_exec' }
  expect(describeTools(profile, openToolbox(null, [search, exec]))).toEqual({
    sandbox: null,
    on: profile.tools,
    off: {},
  })
})

test('a run without a sandbox stays without one, and an older one with Pyodide is refused', async () => {
  expect(await sandboxOfRun({ sandbox: null, on: [], off: {} })).toBeNull()
  const pyodide = { sandbox: 'pyodide', on: ['python_exec'], off: {} } as const
  await expect(sandboxOfRun({ ...pyodide, on: [...pyodide.on] })).rejects.toThrow(
    'Pyodide, which only earlier versions had: train it again.',
  )
  const bubblewrap = { sandbox: 'bubblewrap', on: ['python_exec'], off: {} } as const
  expect(await sandboxOfRun({ ...bubblewrap, on: [...bubblewrap.on] })).toMatchObject({ kind: 'bubblewrap' })
  expect(unstartedSandbox({ ...bubblewrap, on: [] })).toMatchObject({ kind: 'bubblewrap' })
})

test('an older run gets what the machine has', async () => {
  expect(await sandboxOfRun(undefined)).toMatchObject({ kind: 'bubblewrap' })
})
