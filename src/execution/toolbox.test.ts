import { expect, test } from 'vitest'
import { tinyLibrary } from '../../test/tiny-library.ts'
import { SandboxPool } from '../sandbox/pool.ts'
import { ProgramSandbox } from '../sandbox/program-sandbox.ts'
import { openToolbox, toolsOf } from './toolbox.ts'

const names = (tools: ReadonlyMap<string, unknown>) => [...tools.keys()]

test('tools that need a sandbox are present only with one', () => {
  expect(names(openToolbox().tools)).toEqual(['calculator', 'table_reader'])
  expect(names(openToolbox(new ProgramSandbox(new SandboxPool())).tools)).toEqual([
    'calculator',
    'python_exec',
    'public_code',
    'table_reader',
  ])
})

test("a user's tool is added, or replaces a built-in one", () => {
  const own = { ...openToolbox().tools.get('calculator')!, description: 'mine' }
  const { tools } = openToolbox(undefined, [own, { ...own, name: 'web_search' }])
  expect(tools.get('calculator')!.description).toBe('mine')
  expect(names(tools)).toEqual(['calculator', 'table_reader', 'web_search'])
})

test('an executor gets the tools it may use, the profile enables and the machine has', () => {
  const [a, , c] = tinyLibrary.roles
  const all = { tools: ['calculator', 'python_exec', 'table_reader'] }
  expect(names(toolsOf(c!.atomic!, all, openToolbox()))).toEqual(['calculator', 'table_reader'])
  expect(names(toolsOf(c!.atomic!, { tools: ['table_reader'] }, openToolbox()))).toEqual(['table_reader'])
  expect(names(toolsOf(c!.atomic!, all, { tools: new Map() }))).toEqual([])
  expect(names(toolsOf(a!.atomic!, all, openToolbox()))).toEqual([])
  // Tools are not inherited within a group.
  expect(names(toolsOf(c!.group!.workers[0], all, openToolbox()))).toEqual(['calculator', 'table_reader'])
  expect(names(toolsOf(c!.group!.workers[1], all, openToolbox()))).toEqual([])
  expect(names(toolsOf(c!.group!.aggregator, all, openToolbox()))).toEqual([])
})
