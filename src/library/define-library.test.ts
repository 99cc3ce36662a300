import { describe, expect, test } from 'vitest'
import { AgentGraph } from '../graph/agent-graph.ts'
import { legalityMasks } from '../graph/legality.ts'
import { defineLibrary, selectRoles } from './define-library.ts'
import type { ExecutorDefinition, LibraryDefinition, RoleDefinition } from './library.ts'
import { InvalidLibraryError } from './library-problem.ts'
import { UnknownRoleError } from './role-space.ts'
import { standardPrompts } from './standard-prompts.ts'

const executor = (id: string): ExecutorDefinition => ({
  id,
  responsibility: `Be ${id}.`,
  prompt: `You are ${id}.`,
})

const role = (id: string, fields: Partial<RoleDefinition> = {}): RoleDefinition => ({
  id,
  description: `Does ${id}.`,
  atomic: executor(id),
  ...fields,
})

const group = (id: string): NonNullable<RoleDefinition['group']> => ({
  workers: [executor(`${id}_1`), executor(`${id}_2`), executor(`${id}_3`)],
  aggregator: executor(`${id}_all`),
})

/** The printed problems of a definition, however wrong. */
function problemsOf(definition: unknown, tools?: readonly string[]): string[] {
  try {
    defineLibrary(definition as LibraryDefinition, tools ? { tools } : {})
  } catch (error) {
    if (!(error instanceof InvalidLibraryError)) throw error
    return error.problems.map(({ text }) => text)
  }
  return []
}

const withAtomic = (fields: object): unknown => ({
  roles: [{ ...role('solver'), atomic: { ...executor('solver'), ...fields } }],
})
const withRole = (fields: object): unknown => ({ roles: [{ ...role('solver'), ...fields }] })

const nameRule = 'Use letters, digits, - and _, a letter first, at most 64 characters.'
const toolList = 'calculator, python_exec, public_code, table_reader'
const executorFields = 'id, responsibility, prompt, tools'
const roleFields = 'id, description, accepts, produces, atomic, group'

describe('every problem names role, field and remedy', () => {
  const cases: [name: string, definition: unknown, ...problems: string[]][] = [
    ['no object', 'roles', 'the definition is "roles", not a library. Write the fields prompts, roles.'],
    ['a list', [], 'the definition is a list, not a library. Write the fields prompts, roles.'],
    ['no roles field', {}, 'roles is missing. List the roles of the library.'],
    ['roles not a list', { roles: 7 }, 'roles is the number 7, not a list. List the roles of the library.'],
    ['no role', { roles: [] }, 'roles has no role. Add at least one.'],
    [
      'unknown field of the library',
      { roles: [role('solver')], rolls: [] },
      'rolls is not a field of a library. The fields are prompts, roles.',
    ],
    [
      'a role that is none',
      { roles: [null] },
      `roles[0] is empty, not a role. Write the fields ${roleFields}.`,
    ],
    [
      'unknown field of a role',
      withRole({ tools: [] }),
      `role 'solver', tools is not a field of a role. The fields are ${roleFields}.`,
    ],
    [
      'unknown field of an executor',
      withAtomic({ promt: 'x' }),
      `role 'solver', atomic.promt is not a field of an executor. The fields are ${executorFields}.`,
    ],
    [
      'unknown field of a group',
      withRole({ group: { ...group('g'), worker: [] } }),
      "role 'solver', group.worker is not a field of a group. The fields are workers, aggregator.",
    ],
    [
      'unknown field of the prompts',
      { roles: [role('solver')], prompts: { final: 'x' } },
      'prompts.final is not a field of the prompts. The fields are finalizer, direct.',
    ],
    [
      'missing role id',
      { roles: [{ description: 'd', atomic: executor('a') }] },
      'roles[0], id is missing. Give the role a short name such as fact_checker.',
    ],
    [
      'empty role id',
      withRole({ id: ' ' }),
      'roles[0], id is empty. Give the role a short name such as fact_checker.',
    ],
    [
      'illegal role id',
      withRole({ id: 'so lver' }),
      `roles[0], id is "so lver", which cannot be a name. ${nameRule}`,
    ],
    [
      'role id as a number',
      withRole({ id: 7 }),
      'roles[0], id is the number 7, not text. Give the role a short name such as fact_checker.',
    ],
    [
      'empty description',
      withRole({ description: '\n ' }),
      "role 'solver', description is empty. Say in a sentence what the role is for.",
    ],
    [
      'missing description',
      { roles: [{ id: 'solver', atomic: executor('a') }] },
      "role 'solver', description is missing. Say in a sentence what the role is for.",
    ],
    [
      'no realization',
      { roles: [{ id: 'solver', description: 'd' }] },
      "role 'solver' has no realization. Give it 'atomic', 'group' or both.",
    ],
    [
      'atomic is no executor',
      withRole({ atomic: 'You solve.' }),
      `role 'solver', atomic is "You solve.", not an executor. Write the fields ${executorFields}.`,
    ],
    [
      'group is no group',
      withRole({ group: [] }),
      "role 'solver', group is a list, not a group. Write the fields workers, aggregator.",
    ],
    [
      'illegal executor id',
      withAtomic({ id: '../x' }),
      `role 'solver', atomic.id is "../x", which cannot be a name. ${nameRule}`,
    ],
    [
      'missing executor id',
      withAtomic({ id: undefined }),
      "role 'solver', atomic.id is missing. Give the executor a name, unique in the library.",
    ],
    [
      'empty prompt',
      withAtomic({ prompt: '' }),
      "role 'solver', atomic.prompt is empty. Write the system prompt of this executor, as one text or as a list of paragraphs.",
    ],
    [
      'null prompt, as an empty YAML field is',
      withAtomic({ prompt: null }),
      "role 'solver', atomic.prompt is empty. Write the system prompt of this executor, as one text or as a list of paragraphs.",
    ],
    [
      'prompt of another type',
      withAtomic({ prompt: ['x', 1] }),
      "role 'solver', atomic.prompt is a list, not text. Write the system prompt of this executor, as one text or as a list of paragraphs.",
    ],
    [
      'empty responsibility',
      withAtomic({ responsibility: '' }),
      "role 'solver', atomic.responsibility is empty. Say in one sentence what this executor answers for.",
    ],
    [
      'control character',
      withAtomic({ prompt: 'red \u001b[31m' }),
      "role 'solver', atomic.prompt contains the control character U+001B. Remove it.",
    ],
    [
      'half a surrogate pair',
      withAtomic({ prompt: 'x \ud83d' }),
      "role 'solver', atomic.prompt contains half of a surrogate pair. Remove it.",
    ],
    [
      'unknown tool',
      withAtomic({ tools: ['calculator', 'web_search'] }),
      `role 'solver', atomic.tools[1] is "web_search", which is not a tool here. Use one of ${toolList}, or register the tool first.`,
    ],
    [
      'tool of another type',
      withAtomic({ tools: [true] }),
      `role 'solver', atomic.tools[0] is the boolean true, which is not a tool here. Use one of ${toolList}, or register the tool first.`,
    ],
    [
      'tools not a list',
      withAtomic({ tools: 'calculator' }),
      `role 'solver', atomic.tools is "calculator", not a list. List tool names, or leave it out for none.`,
    ],
    [
      'tool twice',
      withAtomic({ tools: ['calculator', 'calculator'] }),
      `role 'solver', atomic.tools lists "calculator" twice. Remove one.`,
    ],
    [
      'group without aggregator',
      withRole({ group: { workers: group('g').workers } }),
      `role 'solver', group.aggregator is missing. Write the fields ${executorFields}.`,
    ],
    [
      'group without workers',
      withRole({ group: { aggregator: executor('g') } }),
      "role 'solver', group.workers is missing. List the three executors that work side by side.",
    ],
    [
      'two workers',
      withRole({ group: { ...group('g'), workers: group('g').workers.slice(1) } }),
      "role 'solver', group.workers has 2 workers. A group has exactly three: add or remove some.",
    ],
    [
      'four workers',
      withRole({ group: { ...group('g'), workers: [...group('g').workers, executor('g4')] } }),
      "role 'solver', group.workers has 4 workers. A group has exactly three: add or remove some.",
    ],
    [
      'a worker that is none',
      withRole({ group: { ...group('g'), workers: [executor('a'), executor('b'), 3] } }),
      `role 'solver', group.workers[2] is the number 3, not an executor. Write the fields ${executorFields}.`,
    ],
    [
      'empty prompt in a group',
      withRole({ group: { ...group('g'), aggregator: { ...executor('x'), prompt: ' ' } } }),
      "role 'solver', group.aggregator.prompt is empty. Write the system prompt of this executor, as one text or as a list of paragraphs.",
    ],
    [
      'role id twice',
      { roles: [role('solver'), role('solver', { atomic: executor('other') })] },
      "role 'solver', id is already the id of roles[0]. Rename one of the two.",
    ],
    [
      'executor id twice in different roles',
      {
        roles: [role('solver'), role('judge', { group: { ...group('g'), aggregator: executor('solver') } })],
      },
      `role 'judge', group.aggregator.id is "solver", which is already the id of an executor of role 'solver'. Executor ids are unique in the whole library: rename one of the two.`,
    ],
    [
      'accepts what nobody produces',
      { roles: [role('solver', { accepts: ['code'] }), role('judge', { produces: ['verdict'] })] },
      `role 'solver', accepts has "code", which no role produces. Add it to the 'produces' of a role or remove it here; produced are analysis, verdict.`,
    ],
    [
      'illegal type name',
      withRole({ produces: ['a b'] }),
      `role 'solver', produces[0] is "a b", which cannot be a name. ${nameRule}`,
    ],
    [
      'produces nothing',
      withRole({ produces: [] }),
      "role 'solver', produces is empty. Name at least one type, or leave it out for 'analysis'.",
    ],
    [
      'type twice',
      withRole({ produces: ['x', 'x'] }),
      `role 'solver', produces lists "x" twice. Remove one.`,
    ],
    [
      'types not a list',
      withRole({ accepts: 'analysis', produces: null }),
      `role 'solver', accepts is "analysis", not a list. List type names, or leave it out.`,
      "role 'solver', produces is empty, not a list. List type names, or leave it out.",
    ],
    [
      'prompts not a mapping',
      { roles: [role('solver')], prompts: 'x' },
      'prompts is "x", not the prompts. Write the fields finalizer, direct.',
    ],
    [
      'empty finalizer prompt',
      { roles: [role('solver')], prompts: { finalizer: '' } },
      'prompts.finalizer is empty. Write it, or leave the field out to use the standard one.',
    ],
  ]

  test.each(cases)('%s', (_, definition, ...problems) => {
    expect(problemsOf(definition)).toEqual(problems)
  })

  test('all problems are reported in one error', () => {
    const definition = {
      roles: [
        { id: 'solver', description: '', atomic: { ...executor('solver'), tools: ['web'] } },
        { id: 'judge', description: 'd', group: { workers: [] } },
        { id: 'idle', description: 'd' },
      ],
    } as unknown as LibraryDefinition
    expect(() => defineLibrary(definition)).toThrow(
      /^The library is not valid \(5 problems\):\n- role 'solver', description .*\n- role 'solver', atomic\.tools\[0\] .*\n- role 'judge', group\.workers .*\n- role 'judge', group\.aggregator .*\n- role 'idle' has no realization/,
    )
  })

  test('a message shows foreign text shortened and escaped', () => {
    const [, problem] = problemsOf(withRole({ id: `\u001b[2J\n\u009b\u202e${'x'.repeat(500)}` }))
    expect(problem).toMatch(/^roles\[0\], id is "\\u001b\[2J\\n\\u\{9b\}\\u\{202e\}x+…"/)
    expect(problem!.length).toBeLessThan(250)
  })

  test('thousands of problems are kept, but only the first hundred are printed', () => {
    try {
      defineLibrary({ roles: new Array(3000).fill(3) })
      expect.unreachable()
    } catch (error) {
      expect((error as InvalidLibraryError).problems).toHaveLength(3000)
      expect((error as InvalidLibraryError).message.split('\n')).toHaveLength(102)
      expect((error as InvalidLibraryError).message).toMatch(/- and 2900 more$/)
    }
  })
})

describe('a library', () => {
  test('has defaults filled in', () => {
    const library = defineLibrary({ roles: [role('solver')] })
    expect(library.prompts).toEqual(standardPrompts)
    expect(library.roles[0]).toMatchObject({ produces: ['analysis'], atomic: { tools: [] } })
    expect(library.roles[0]).not.toHaveProperty('accepts')
    expect(library.roles[0]).not.toHaveProperty('group')
  })

  test('replaces only the given outer prompts', () => {
    const library = defineLibrary({ roles: [role('solver')], prompts: { direct: 'Say it.' } })
    expect(library.prompts).toEqual({ finalizer: standardPrompts.finalizer, direct: 'Say it.' })
  })

  test('keeps tools in a fixed order, however they are written', () => {
    const library = defineLibrary(
      withAtomic({ tools: ['zeta', 'table_reader', 'alpha', 'calculator'] }) as LibraryDefinition,
      { tools: ['alpha', 'zeta'] },
    )
    expect(library.roles[0]!.atomic!.tools).toEqual(['calculator', 'table_reader', 'alpha', 'zeta'])
  })

  test('accepts user tools only when registered', () => {
    const definition = withAtomic({ tools: ['web_search'] })
    expect(problemsOf(definition, ['web_search'])).toEqual([])
    expect(problemsOf(definition, ['other'])).toHaveLength(1)
  })

  test('is deeply frozen and leaves the definition unchanged', () => {
    const definition = { roles: [role('solver', { accepts: ['analysis'], group: group('g') })] }
    const library = defineLibrary(definition)
    const check = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      expect(Object.isFrozen(value)).toBe(true)
      for (const inner of Object.values(value)) check(inner)
    }
    check(library)
    expect(Object.isFrozen(definition.roles[0])).toBe(false)
    expect(Object.isFrozen(definition.roles[0]!.atomic)).toBe(false)
  })

  test('reports which realizations its roles have', () => {
    const only = { id: 'team', description: 'd', group: group('g') }
    const { space } = defineLibrary({ roles: [role('solver'), only, role('both', { group: group('h') })] })
    expect(space.roles).toEqual([
      { id: 'solver', atomic: true, group: false },
      { id: 'team', atomic: false, group: true },
      { id: 'both', atomic: true, group: true },
    ])
    expect(space.indexOf('both')).toBe(2)
  })
})

describe('edge types', () => {
  const { space } = defineLibrary({
    roles: [
      role('planner', { accepts: [], produces: ['plan'] }),
      role('coder', { accepts: ['plan', 'review'], produces: ['code'] }),
      role('reviewer', { accepts: ['code'], produces: ['review', 'analysis'] }),
      role('summary'),
    ],
  })

  test('an edge is legal if the receiver accepts anything or the lists overlap', () => {
    const legal = space.roles.map((_, from) => space.roles.map((_, to) => space.compatible(from, to)))
    expect(legal).toEqual([
      [false, true, false, true],
      [false, false, true, true],
      [false, true, false, true],
      [false, false, false, true],
    ])
  })

  test('edge types reach the construction masks', () => {
    const limits = { maxUnits: 3, maxDepth: 4, restriction: 'mixed' as const }
    const graph = AgentGraph.of([{ role: 'planner', realization: 'atomic', predecessors: [] }])
    const { edges } = legalityMasks(graph, { roles: space, ...limits })
    // Per role: atomic, group; these roles have no groups.
    expect([...edges]).toEqual([0, 0, 1, 0, 0, 0, 1, 0])
  })
})

describe('selectRoles', () => {
  const library = defineLibrary({
    prompts: { direct: 'Say it.' },
    roles: [
      role('planner', { produces: ['plan'] }),
      role('coder', { accepts: ['plan', 'review'], produces: ['code'] }),
      role('reviewer', { produces: ['review'] }),
    ],
  })

  test("keeps the library's order and prompts", () => {
    const part = selectRoles(library, ['reviewer', 'planner', 'planner'])
    expect(part.roles).toEqual([library.roles[0], library.roles[2]])
    expect(part.space.roles.map(({ id }) => id)).toEqual(['planner', 'reviewer'])
    expect(part.texts).toEqual([library.texts[0], library.texts[2]])
    expect(part.prompts).toEqual(library.prompts)
  })

  test('changes the fingerprint unless all roles are selected', () => {
    expect(selectRoles(library, ['planner', 'coder']).fingerprint).not.toBe(library.fingerprint)
    expect(selectRoles(library, ['reviewer', 'coder', 'planner']).fingerprint).toBe(library.fingerprint)
  })

  test('keeps edges and is itself a valid library', () => {
    const part = selectRoles(library, ['coder', 'reviewer'])
    expect(part.roles[0]!.accepts).toEqual(['review'])
    expect(part.space.compatible(1, 0)).toBe(true)
    expect(defineLibrary({ roles: part.roles, prompts: part.prompts }).fingerprint).toBe(part.fingerprint)

    const alone = selectRoles(library, ['coder'])
    expect(alone.roles[0]!.accepts).toEqual([])
    expect(alone.space.compatible(0, 0)).toBe(false)
    expect(defineLibrary({ roles: alone.roles, prompts: alone.prompts }).fingerprint).toBe(alone.fingerprint)
  })

  test('refuses unknown roles and an empty selection', () => {
    expect(() => selectRoles(library, ['planner', 'tester'])).toThrow(UnknownRoleError)
    expect(() => selectRoles(library, [])).toThrow('No role is selected. Name at least one of: planner,')
  })
})
