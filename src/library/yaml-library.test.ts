import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { Problem } from '../problem.ts'
import { defineLibrary } from './define-library.ts'
import { paperLibrary } from './paper-library/paper-library.ts'
import { loadLibrary, parseLibrary, toYaml } from './yaml-library.ts'

const small = `
roles:
  - id: solver
    description: Solves the question.
    atomic:
      id: solver
      responsibility: Solve it.
      tools: [calculator]
      prompt: |
        You solve it.

        Hand on the answer.
`

const messageOf = (text: string): string => {
  try {
    parseLibrary(text, 'team.yaml')
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return 'valid'
}

describe('a library in YAML', () => {
  test('equals its TypeScript version', () => {
    const written = defineLibrary({
      roles: [
        {
          id: 'solver',
          description: 'Solves the question.',
          atomic: {
            id: 'solver',
            responsibility: 'Solve it.',
            prompt: 'You solve it.\n\nHand on the answer.',
            tools: ['calculator'],
          },
        },
      ],
    })
    const loaded = parseLibrary(small, 'team.yaml')
    expect(loaded.roles).toEqual(written.roles)
    expect(loaded.fingerprint).toBe(written.fingerprint)
  })

  test('round-trips the paper’s library', () => {
    const loaded = parseLibrary(toYaml(paperLibrary), 'paper.yaml')
    expect(loaded.roles).toEqual(paperLibrary.roles)
    expect(loaded.fingerprint).toBe(paperLibrary.fingerprint)
  })

  test('may use tools the user registers', () => {
    const text = small.replace('calculator', 'web_search')
    expect(() => parseLibrary(text, 'team.yaml')).toThrow(/"web_search", which is not a tool here/)
    const library = parseLibrary(text, 'team.yaml', { tools: ['web_search'] })
    expect(library.roles[0]!.atomic!.tools).toEqual(['web_search'])
  })

  test('may use aliases for text and lists', () => {
    const library = parseLibrary(
      `
roles:
  - id: a
    description: &what Does something.
    atomic: { id: a, responsibility: *what, prompt: p, tools: &both [calculator, python_exec] }
  - id: b
    description: &what Does something else.
    atomic: { id: b, responsibility: *what, prompt: p, tools: *both }
`,
      'team.yaml',
    )
    expect(library.roles.map(({ atomic }) => atomic!.responsibility)).toEqual([
      'Does something.',
      'Does something else.',
    ])
    expect(library.roles[1]!.atomic!.tools).toEqual(['calculator', 'python_exec'])
  })
})

test('a prompt may be a list of paragraphs, which aliases can share', () => {
  const library = parseLibrary(
    `
roles:
  - id: a
    description: Does something.
    atomic: { id: a, responsibility: Does it., prompt: [You do it., &null Answer null if you cannot.] }
  - id: b
    description: Does something else.
    atomic: { id: b, responsibility: Does that., prompt: [You do that., *null] }
`,
    'team.yaml',
  )
  expect(library.roles.map(({ atomic }) => atomic!.prompt)).toEqual([
    'You do it.\n\nAnswer null if you cannot.',
    'You do that.\n\nAnswer null if you cannot.',
  ])
})

describe('messages name file, line, role and field', () => {
  const header = (count: number) =>
    `The library team.yaml is not valid (${count} problem${count === 1 ? '' : 's'}):\n`

  test('a wrong field', () => {
    expect(messageOf(small.replace('[calculator]', '[calculator, abacus]'))).toBe(
      `${header(1)}- line 8: role 'solver', atomic.tools[1] is "abacus", which is not a tool here. ` +
        'Use one of calculator, python_exec, public_code, table_reader, or register the tool first.',
    )
  })

  test('an unknown field', () => {
    expect(messageOf(small.replace('responsibility:', 'duty:'))).toBe(
      `${header(2)}- line 5: role 'solver', atomic.responsibility is missing. ` +
        "Say in one sentence what this executor answers for.\n- line 7: role 'solver', atomic.duty is not a field " +
        'of an executor. The fields are id, responsibility, prompt, tools.',
    )
  })

  test('an empty field, and a number instead of text', () => {
    expect(
      messageOf(small.replace('Solves the question.', '').replace('id: solver\n      r', 'id: 12\n      r')),
    ).toBe(
      `${header(2)}- line 4: role 'solver', description is empty. Say in a sentence what the role is for.\n` +
        "- line 6: role 'solver', atomic.id is the number 12, not text. " +
        'Give the executor a name, unique in the library.',
    )
  })

  test('a rule between roles', () => {
    const twice = `${small}  - id: solver\n    description: Again.\n    atomic: { id: other, responsibility: r, prompt: p }\n`
    expect(messageOf(twice)).toBe(
      `${header(1)}- line 13: role 'solver', id is already the id of roles[0]. Rename one of the two.`,
    )
  })

  test('a syntax error', () => {
    expect(messageOf('roles:\n  - id: "solver\n')).toMatch(
      /^The library team\.yaml is not valid \(\d+ problems?\):\n- line \d: the file is not valid YAML: /,
    )
  })

  test('an empty file, and one that is not a mapping', () => {
    const remedy = 'not a library. Write the fields prompts, roles.'
    expect(messageOf('')).toBe(`${header(1)}- line 1: the definition is empty, ${remedy}`)
    expect(messageOf('# nothing yet\n')).toBe(`${header(1)}- line 1: the definition is empty, ${remedy}`)
    expect(messageOf('- a\n- b\n')).toBe(`${header(1)}- line 1: the definition is a list, ${remedy}`)
    expect(messageOf('just text')).toBe(`${header(1)}- line 1: the definition is "just text", ${remedy}`)
  })
})

describe('hostile files are refused', () => {
  const laughs = ['a: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]']
  for (let level = 1; level < 9; level += 1) {
    laughs.push(`b${level}: &a${level} [${new Array(9).fill(`*a${level - 1}`).join(', ')}]`)
  }
  const megabyte = 1 << 20
  const cases: [name: string, text: string, message: RegExp][] = [
    ['an alias bomb', laughs.join('\n'), /more than 100000 values .* once its aliases are expanded/],
    [
      'a long text repeated by alias',
      `a: &a "${'x'.repeat(50_000)}"\nb: [${new Array(50).fill('*a').join(', ')}]`,
      /1048576 characters once its aliases are expanded/,
    ],
    ['an alias of itself', 'roles: &a [*a, *a, *a, *a]', /line 1: the file is nested more deeply/],
    ['an alias without anchor', 'roles: *a', /not valid YAML|no anchor/],
    ['a program by tag', 'roles: !!js/function "() => 1"', /has the tag "tag:yaml.org,2002:js\/function"/],
    [
      'a tag of its own',
      'a: 1\nroles: !exec [ls]',
      /line 2: the file has the tag "!exec". Tags are not supported/,
    ],
    ['binary data by tag', 'roles: !!binary aGVsbG8=', /has the tag/],
    ['a set by tag', 'roles: !!set {a, b}', /has the tag/],
    ['a merge key', `${small}<<: { roles: [] }`, /"<<" is not a field of a library/],
    ['a prototype', `${small}__proto__: { polluted: true }`, /"__proto__" is not a field of a library/],
    ['a field twice', `${small}roles: []`, /line 13: the file has the field "roles" twice/],
    ['a key that is a list', '? [a, b]\n: 1', /has a key that is not text/],
    ['a key that is a number', '1: 2', /has a key that is not text/],
    ['a second document', `${small}---\n${small}`, /has a second document. Keep one library per file/],
    ['deep flow', '['.repeat(100_000), /nested more deeply/],
    ['deep blocks', '- '.repeat(100_000), /nested more deeply/],
    ['deep mappings', 'a: {'.repeat(50_000), /nested more deeply/],
    ['deep but closed', `roles: ${'['.repeat(40)}${']'.repeat(40)}`, /nested more deeply/],
    ['a tab as indentation', 'roles:\n\t- id: a', /not valid YAML/],
    ['a NUL', 'roles: "\\0"', /roles is "\\u0000", not a list/],
    ['more than a megabyte', `roles: "${'x'.repeat(megabyte)}"`, /more than 1048576 characters/],
    [
      'very many wrong roles',
      `roles:\n${'- 1\n'.repeat(50_000)}`,
      /50000 problems.*\n(- line .*\n){100}- and 49900 more$/,
    ],
    [
      'very many unknown fields',
      Array.from({ length: 50_000 }, (_, index) => `k${index}: 1`).join('\n'),
      /- and 49901 more$/,
    ],
  ]

  test.each(cases)('%s', (_, text, message) => {
    expect(messageOf(text)).toMatch(message)
    expect({}).not.toHaveProperty('polluted')
  })

  test('any text gives a library or an error that says what is wrong', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '&a',
        '*a',
        '!',
        '!!',
        '[',
        ']',
        '{',
        '}',
        ': ',
        '- ',
        '\n',
        '\n  ',
        '|',
        '>',
        '"',
        '---\n',
        '%',
      ),
    )
    // A valid file with pieces cut out and noise inserted, so that most of the structure survives.
    const damaged = fc
      .array(fc.tuple(fc.nat(small.length), fc.nat(20), noise), { minLength: 1, maxLength: 6 })
      .map((cuts) =>
        cuts.reduce((text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length), small),
      )
    fc.assert(
      fc.property(fc.oneof(noise, damaged), (text) => {
        expect(messageOf(text)).toMatch(/^(valid$|The library team\.yaml is not valid)/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('loadLibrary', () => {
  const folder = mkdtempSync(join(tmpdir(), 'library-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  test('reads a file with or without a byte order mark', () => {
    const plain = loadLibrary(file('plain.yaml', small))
    const marked = loadLibrary(file('marked.yaml', `\ufeff${small}`))
    expect(plain.fingerprint).toBe(parseLibrary(small, 'x').fingerprint)
    expect(marked.fingerprint).toBe(plain.fingerprint)
  })

  test('names the file in every message', () => {
    const path = file('wrong.yaml', 'roles: 3')
    expect(() => loadLibrary(path)).toThrow(
      `The library ${path} is not valid (1 problem):\n- line 1: roles is`,
    )
  })

  test('says why a file is unreadable', () => {
    const missing = join(folder, 'missing.yaml')
    expect(() => loadLibrary(missing)).toThrow(
      `Cannot read the library ${missing}: there is no such file. Check the path.`,
    )
    expect(() => loadLibrary(folder)).toThrow(/it is not a file\. Give the path of a YAML file\./)
    expect(() => loadLibrary('/dev/zero')).toThrow(/it is not a file/)
    expect(() => loadLibrary(file('latin.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xe9])))).toThrow(
      /not UTF-8 text/,
    )
    expect(() => loadLibrary(file('huge.yaml', Buffer.alloc((4 << 20) + 1)))).toThrow(
      'Cannot read the library',
    )
    expect(() => loadLibrary(file('large.yaml', Buffer.alloc((1 << 20) + 1, 32)))).toThrow(
      'Cannot read the library',
    )
  })
})
