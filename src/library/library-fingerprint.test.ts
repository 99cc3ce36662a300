import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineLibrary } from './define-library.ts'
import type { ExecutorDefinition, Library, LibraryDefinition, RoleDefinition } from './library.ts'
import { standardPrompts } from './standard-prompts.ts'
import { builtInTools } from './tool-name.ts'
import { parseLibrary, toYaml } from './yaml-library.ts'

// Text that is hard on YAML: its own syntax, folding, indentation, blank lines, other scripts.
const fragment = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '\n',
    '\n\n',
    '\n\n\n',
    '\n  - ',
    '  ',
    '\t',
    ' #',
    ': ',
    '---',
    '...',
    '|',
    '>-',
    '"',
    "'",
    '\\',
  ),
  fc.constantFrom(
    'null',
    'yes',
    '1e3',
    '0x10',
    '~',
    '<<',
    '*a',
    '&a ',
    '!!str ',
    '%',
    '@',
    '`',
    '\u2028',
    '\u00a0',
    '\ufeff',
  ),
  fc.lorem({ maxCount: 30 }),
)
const text = fc
  .array(fragment, { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join('').replaceAll(/[^\P{Cc}\t\n]/gu, ''))
  .filter((value) => value.trim() !== '')

const executor = fc.record({
  responsibility: text,
  prompt: text,
  tools: fc.subarray([...builtInTools], { minLength: 0 }),
})

const types = ['analysis', 'plan', 'code'] as const
const role = fc.record({
  description: text,
  accepts: fc.option(fc.subarray([...types]), { nil: undefined }),
  produces: fc.option(fc.subarray([...types], { minLength: 1 }), { nil: undefined }),
  realizations: fc.constantFrom('atomic', 'group', 'both'),
  executors: fc.tuple(executor, executor, executor, executor, executor),
})

/** Valid libraries of one to four roles. */
const definition: fc.Arbitrary<LibraryDefinition> = fc
  .record({ roles: fc.array(role, { minLength: 1, maxLength: 4 }), finalizer: text, direct: text })
  .map(({ roles, finalizer, direct }) => {
    const produced = new Set(roles.flatMap(({ produces }) => produces ?? ['analysis']))
    return {
      prompts: { finalizer, direct },
      roles: roles.map(
        ({ description, accepts, produces, realizations, executors }, index): RoleDefinition => {
          const [a, b, c, d, e] = executors
          const member = (part: string, fields: typeof a) => ({ id: `e${index}-${part}`, ...fields })
          return {
            id: `role_${index}`,
            description,
            ...(accepts && { accepts: accepts.filter((type) => produced.has(type)) }),
            ...(produces && { produces }),
            ...(realizations !== 'group' && { atomic: member('a', a) }),
            ...(realizations !== 'atomic' && {
              group: {
                workers: [member('b', b), member('c', c), member('d', d)],
                aggregator: member('e', e),
              },
            }),
          }
        },
      ),
    }
  })

type Editable<T> = T extends string ? T : { -readonly [K in keyof T]: Editable<T[K]> }
type Edit = [name: string, change: (library: Editable<LibraryDefinition>) => void]

/** Every single change that must show: one per text, permission, type, realization and adjacent pair. */
function edits({ roles }: LibraryDefinition): Edit[] {
  const list: Edit[] = [
    ['finalizer', (library) => (library.prompts!.finalizer += '.')],
    ['direct', (library) => (library.prompts!.direct += '.')],
    ['a further role', (library) => library.roles.push({ id: 'zz', description: 'z', atomic: plain('zz') })],
  ]
  for (const [index, { id, atomic, group, accepts, produces }] of roles.entries()) {
    const at = (change: (role: Editable<RoleDefinition>) => void): Edit[1] => {
      return (library) => change(library.roles[index]!)
    }
    list.push([`${id}.id`, at((role) => (role.id += '_x'))])
    list.push([`${id}.description`, at((role) => (role.description += '.'))])
    const someType = [...(produces ?? ['analysis'])]
    if (accepts === undefined) list.push([`${id}.accepts`, at((role) => (role.accepts = someType))])
    else list.push([`${id}.accepts`, at((role) => delete role.accepts)])
    list.push([`${id}.produces`, at((role) => (role.produces = [...someType, 'new']))])
    if (atomic && group) {
      list.push([`${id} without atomic`, at((role) => delete role.atomic)])
      list.push([`${id} without group`, at((role) => delete role.group)])
    }
    const members: [string, (role: Editable<RoleDefinition>) => Editable<ExecutorDefinition>][] = [
      ...(atomic ? [['atomic', (role) => role.atomic!] as (typeof members)[number]] : []),
      ...[0, 1, 2].flatMap((worker) =>
        group
          ? [[`worker ${worker}`, (role) => role.group!.workers[worker]!] as (typeof members)[number]]
          : [],
      ),
      ...(group ? [['aggregator', (role) => role.group!.aggregator] as (typeof members)[number]] : []),
    ]
    for (const [name, member] of members) {
      list.push([`${id} ${name}.id`, at((role) => (member(role).id += '_x'))])
      list.push([`${id} ${name}.responsibility`, at((role) => (member(role).responsibility += '.'))])
      list.push([`${id} ${name}.prompt`, at((role) => (member(role).prompt += '.'))])
      for (const tool of builtInTools) {
        list.push([
          `${id} ${name} ${tool}`,
          at((role) => {
            const tools = member(role).tools ?? []
            member(role).tools = tools.includes(tool)
              ? tools.filter((name) => name !== tool)
              : [...tools, tool]
          }),
        ])
      }
    }
    if (group) list.push([`${id} order of workers`, at(({ group }) => group!.workers.reverse())])
    if (index > 0) {
      list.push([
        `order of roles ${index}`,
        ({ roles }) => roles.splice(index - 1, 2, roles[index]!, roles[index - 1]!),
      ])
    }
  }
  return list
}

const plain = (id: string) => ({ id, responsibility: 'r', prompt: 'p' })

describe('the fingerprint', () => {
  test('is a SHA-256 that does not depend on machine or date', () => {
    const library = defineLibrary({
      prompts: { finalizer: 'f', direct: 'd' },
      roles: [{ id: 'solver', description: 'Solves.', atomic: plain('solver') }],
    })
    // printf
    // '["magic-library-1","f","d",[["solver","Solves.",null,["analysis"],["solver","r","p",[]],null]]]' |
    // sha256sum
    expect(library.fingerprint).toBe('e309b582a8a88710a5bb580ceebd458f4092a7295df7f1405834400b4c771074')
  })

  test('changes with any single prompt, text, permission, type, realization or order', () => {
    fc.assert(
      fc.property(definition, (written) => {
        const seen = new Map([[defineLibrary(written).fingerprint, 'the original']])
        for (const [name, change] of edits(written)) {
          const edited = structuredClone(written) as Editable<LibraryDefinition>
          change(edited)
          const { fingerprint } = defineLibrary(edited)
          expect(seen.get(fingerprint), `${name} looks like`).toBeUndefined()
          seen.set(fingerprint, name)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('does not depend on key order', () => {
    fc.assert(
      fc.property(definition, fc.infiniteStream(fc.nat()), (written, order) => {
        expectSame(written, reorder(written, order) as LibraryDefinition)
      }),
    )
  })

  test('does not depend on the spelling of sets, defaults and white space', () => {
    fc.assert(
      fc.property(definition, (written) => {
        const other = structuredClone(written) as Editable<LibraryDefinition>
        other.prompts!.finalizer = `\n ${other.prompts!.finalizer!.replaceAll('\n', '\r\n')}\n`
        for (const role of other.roles) {
          role.accepts?.reverse()
          role.produces = (role.produces ?? ['analysis']).toReversed()
          for (const member of [role.atomic, ...(role.group?.workers ?? []), role.group?.aggregator]) {
            if (member?.tools?.length === 0) delete member.tools
            else member?.tools?.reverse()
          }
        }
        expectSame(written, other)
      }),
    )
    const roles = [{ id: 'solver', description: 'd', atomic: plain('solver') }]
    expectSame({ roles }, { roles, prompts: standardPrompts })
  })

  test('is the same for YAML and TypeScript', () => {
    fc.assert(
      fc.property(definition, (written) => {
        const library = defineLibrary(written)
        const loaded = parseLibrary(toYaml(library), 'round-trip.yaml')
        expect(comparable(loaded)).toEqual(comparable(library))
      }),
      { numRuns: 300 },
    )
  })
})

function expectSame(one: LibraryDefinition, other: LibraryDefinition): void {
  expect(comparable(defineLibrary(other))).toEqual(comparable(defineLibrary(one)))
}

/** Without functions, which are never equal. */
function comparable({ space, ...rest }: Library): unknown {
  return { ...rest, shapes: space.roles }
}

/** The same value with the keys of every object shuffled by the stream. */
function reorder(value: unknown, order: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, order))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => ({
    key,
    inner: reorder(inner, order),
    rank: order.next().value as number,
  }))
  return Object.fromEntries(entries.sort((a, b) => a.rank - b.rank).map(({ key, inner }) => [key, inner]))
}
