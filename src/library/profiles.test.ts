import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { benchmarkProfiles } from '../tasks/benchmarks/list.ts'
import { selectRoles } from './define-library.ts'
import { executorsOf } from './library.ts'
import { paperLibrary } from './paper-library/paper-library.ts'
import { availableTools, type DatasetProfile } from './profiles.ts'
import { builtInTools, compareTools } from './tool-name.ts'

const profiles: [string, DatasetProfile][] = Object.entries(benchmarkProfiles)
const executor = (id: string) =>
  paperLibrary.roles.flatMap(executorsOf).find((candidate) => candidate.id === id)!

describe('benchmark profiles', () => {
  test('each of the eight benchmarks has one', () => {
    expect(profiles.map(([name]) => name).sort()).toEqual(
      ['aqua', 'gsm8k', 'humaneval', 'livecodebench', 'mmlu_pro', 'strategyqa', 'tabfact', 'tatqa'].sort(),
    )
  })

  test.each(profiles)('%s: its roles and tools exist, and every tool is used', (name, profile) => {
    expect(profile.id).toBe(name)
    const library = selectRoles(paperLibrary, profile.roles)
    expect(library.roles).toHaveLength(profile.roles.length)
    const usable = new Set(
      library.roles.flatMap(executorsOf).flatMap((member) => availableTools(member, profile, builtInTools)),
    )
    expect([...usable].sort(compareTools)).toEqual([...profile.tools].sort(compareTools))
  })

  test.each(profiles)('%s: can build the skeleton of diagnostic D1', (_, { roles }) => {
    expect(roles).toEqual(
      expect.arrayContaining(['task_decomposer', 'independent_solver', 'adversarial_verifier']),
    )
  })

  test('every role of the library serves a benchmark', () => {
    const used = new Set(profiles.flatMap(([, { roles }]) => roles))
    expect(paperLibrary.roles.filter(({ id }) => !used.has(id))).toEqual([])
  })
})

describe('availableTools', () => {
  test('is the intersection of permission, profile and machine', () => {
    const auditor = executor('calculation_auditor')
    expect(availableTools(auditor, benchmarkProfiles.gsm8k, builtInTools)).toEqual([
      'calculator',
      'python_exec',
    ])
    expect(availableTools(auditor, benchmarkProfiles.gsm8k, ['calculator'])).toEqual(['calculator'])
    expect(availableTools(auditor, benchmarkProfiles.humaneval, builtInTools)).toEqual(['python_exec'])
    expect(availableTools(auditor, benchmarkProfiles.strategyqa, builtInTools)).toEqual([])
    expect(availableTools(executor('calculation_aggregator'), benchmarkProfiles.gsm8k, builtInTools)).toEqual(
      [],
    )
  })

  test('has an order that depends only on the tools', () => {
    const tools = [...builtInTools, 'alpha', 'zeta']
    const subset = fc.shuffledSubarray(tools)
    fc.assert(
      fc.property(subset, subset, subset, (permitted, enabled, present) => {
        expect(availableTools({ tools: permitted }, { tools: enabled }, new Set(present))).toEqual(
          tools.filter((tool) => [permitted, enabled, present].every((list) => list.includes(tool))),
        )
      }),
    )
  })
})
