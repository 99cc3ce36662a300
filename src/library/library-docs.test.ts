import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadLibrary, parseLibrary } from './yaml-library.ts'

const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block!)

/** The examples' imports, resolved to the sources instead of the built package. */
const exported = [
  'define-library',
  'yaml-library',
  'profiles',
  'paper-library/paper-library',
  '../tasks/benchmarks/list',
]
  .map((file) => `export * from '${new URL(`./${file}.ts`, import.meta.url)}'\n`)
  .join('')

describe('docs/library.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'library-docs-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'team.yaml'), blocks('yaml')[0]!)
  writeFileSync(join(folder, 'magic-agents.ts'), exported)

  /** Runs an example like a user would, in a folder with `team.yaml`, and returns its output. */
  const run = (example: string): string => {
    const path = join(folder, 'example.ts')
    writeFileSync(path, example.replaceAll("'magic-agents'", "'./magic-agents.ts'"))
    return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
      cwd: folder,
      encoding: 'utf8',
    })
  }

  test('the YAML example is a library with the edges the page describes', () => {
    const { space } = loadLibrary(join(folder, 'team.yaml'))
    const [finder, judge, writer] = [0, 1, 2] as const
    expect(space.roles.map(({ id }) => id)).toEqual(['clause_finder', 'clause_judge', 'plain_writer'])
    const legal = [finder, judge, writer].map((from) =>
      [finder, judge, writer].map((to) => space.compatible(from, to)),
    )
    expect(legal).toEqual([
      [false, true, true],
      [false, true, true],
      [false, false, true],
    ])
  })

  test('the TypeScript examples run, and equal libraries print equal fingerprints', () => {
    const [load, define, profile, ...rest] = blocks('ts')
    expect(rest).toEqual([])
    const { fingerprint } = loadLibrary(join(folder, 'team.yaml'))
    expect(run(load!)).toContain(fingerprint)
    expect(run(define!)).toBe(run(load!))
    expect(run(profile!)).toBe("[ 'calculator' ]\n")
  })

  test('the messages it shows are real', () => {
    const [shown] = blocks('').filter((block) => block.startsWith('The library'))
    const wrong = blocks('yaml')[0]!
      .replace('[evidence, verdict]', '[evidence, ruling]')
      .replace('python_exec]', 'python]')
    expect(() => parseLibrary(wrong, 'team.yaml')).toThrow(shown!.trim())
  })
})
