import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { toYaml } from '../library/yaml-library.ts'
import { defineTasks } from '../tasks/own/define-tasks.ts'
import { defineConfig, loadConfiguration, ownTasksOf, resolveConfiguration } from './configuration.ts'
import { loadEnvironment } from './configuration-file.ts'

const root = mkdtempSync(join(tmpdir(), 'configuration-'))
afterAll(() => rmSync(root, { recursive: true }))

let folders = 0
/** Writes the files to a new folder, since an imported module is not read again. */
function folder(files: Record<string, string>): string {
  folders += 1
  const path = join(root, String(folders))
  mkdirSync(path)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

const questions = '{"question": "1 + 1?", "answer": 2}\n{"question": "1 + 2?", "answer": 3}\n'

/**
 * Loads the files in a separate process, where Node instead of the test runner reads them; returns each
 * configuration as JSON, or the error's name and message. One process for all, because starting it is the
 * slow part.
 */
function loadedByNode(paths: readonly string[]): string[] {
  const module = new URL('./configuration.ts', import.meta.url).href
  const program = `import { loadConfiguration } from '${module}'
    const told = []
    for (const path of ${JSON.stringify(paths)})
      try { told.push(JSON.stringify(await loadConfiguration(path))) }
      catch (error) { told.push(error.name + ' ' + error.message) }
    console.log(JSON.stringify(told))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return JSON.parse(printed) as string[]
}

describe('loadConfiguration', () => {
  const plain = { name: 'mine', tasks: 'q.jsonl', runsDir: '../runs', encoder: { folder: 'minilm' } }

  const readable: [string, string][] = [
    [
      'magic.config.ts',
      `const name: string = 'mine'\nexport default { ...${JSON.stringify(plain)}, name } satisfies import('magic-agents').MagicConfiguration\n`,
    ],
    ['magic.config.mts', `export default Promise.resolve(${JSON.stringify(plain)})`],
    ['magic.config.mjs', `export default ${JSON.stringify(plain)}`],
    ['magic.config.js', `export default ${JSON.stringify(plain)}`],
    ['magic.config.json', JSON.stringify(plain)],
    ['magic.config.yaml', 'name: mine\ntasks: q.jsonl\nrunsDir: ../runs\nencoder:\n  folder: minilm\n'],
  ]
  const expected = (path: string, name: string) => ({
    name: 'mine',
    file: join(path, name),
    tasks: join(path, 'q.jsonl'),
    runsDir: join(root, 'runs'),
    encoder: { folder: join(path, 'minilm') },
  })

  test.each(readable)('reads %s and resolves paths from its folder', async (name, content) => {
    const path = folder({ [name]: content, 'q.jsonl': questions })
    expect(await loadConfiguration(path)).toEqual(expected(path, name))
    expect(await loadConfiguration(join(path, name))).toEqual(expected(path, name))
  })

  test('reads every format as Node does', () => {
    const paths = readable.map(([name, content]) => folder({ [name]: content }))
    const wanted = readable.map(([name], index) => expected(paths[index]!, name))
    expect(loadedByNode(paths).map((told) => JSON.parse(told))).toEqual(wanted)
  })

  const refused: [string, Record<string, string>, RegExp][] = [
    [
      'a syntax error',
      { 'magic.config.ts': 'export default {\n  name: }\n' },
      /it has a syntax error in line 2: .+\.$/m,
    ],
    [
      'a syntax error in JavaScript',
      { 'magic.config.mjs': 'export default {\n  name: }\n' },
      /it has a syntax error: Unexpected token '}'\.$/m,
    ],
    [
      'an enum',
      { 'magic.config.ts': 'enum A { b }\nexport default { name: A.b }' },
      /in line 1: Node runs TypeScript by removing types/,
    ],
    [
      'no default export',
      { 'magic.config.ts': 'export const config = {}' },
      /it exports config but no default\. Write `export default/,
    ],
    ['no export', { 'magic.config.mjs': 'const a = 1' }, /it exports nothing\./],
    [
      'a missing package',
      { 'magic.config.ts': "import { defineConfig } from 'magic-agents'\nexport default defineConfig({})" },
      /imports something that does not exist.*npm install magic-agents/,
    ],
    [
      'a missing file',
      { 'magic.config.ts': "import x from '../runs/x'\nexport default x" },
      /a relative import carries its ending/,
    ],
    [
      'an error of its own',
      { 'magic.config.ts': "export default {}\n\nthrow new Error('no luck')" },
      /it fails when run: no luck in line 3\.$/m,
    ],
    [
      'a promise that fails',
      { 'magic.config.ts': "export default Promise.reject(new Error('no luck'))" },
      /its promise failed: no luck\.$/m,
    ],
    [
      'a function',
      { 'magic.config.ts': 'export default () => ({})' },
      /the configuration: Invalid input: expected object, received function/,
    ],
    ['broken JSON', { 'magic.config.json': '{"name": "a"' }, /line \d is not valid/],
    [
      'a field twice in JSON',
      { 'magic.config.json': '{"name": "a",\n "budget": {"cost": 1,\n "cost": 100}}' },
      /line 3 /,
    ],
    [
      'half a character in JSON',
      { 'magic.config.json': '{"model": {"model": "\\ud800"}}' },
      /line 1 contains half of a surrogate pair/,
    ],
    [
      'half a character in YAML',
      { 'magic.config.yaml': 'name: a\nmodel: { model: "\\ud800" }' },
      /line 2 contains half of a surrogate pair/,
    ],
    ['broken YAML', { 'magic.config.yaml': 'name: [a\ntasks: b' }, /line \d is not valid YAML/],
    ['a tag in YAML', { 'magic.config.yaml': 'name: !!js/function a' }, /line 1 has the tag/],
    [
      'two files',
      { 'magic.config.ts': '', 'magic.config.json': '{}' },
      /magic\.config\.json is there as well\. Remove one, or name the one to use\./,
    ],
    ['no file', {}, /there is no configuration in this folder\. `magic init` writes one/],
  ]

  test('a pipe without a writer is refused at once', async () => {
    const place = folder({})
    const pipe = join(place, 'magic.config.json')
    execFileSync('mkfifo', [pipe])
    await expect(loadConfiguration(pipe)).rejects.toThrow('it is neither a regular file nor a folder')
    await expect(loadConfiguration(place)).rejects.toThrow('it is neither a regular file nor a folder')
    execFileSync('mkfifo', [join(place, '.env')])
    expect(() => loadEnvironment(place)).toThrow('it is neither a regular file')
  })

  test('says what is wrong with the file', () => {
    const told = loadedByNode(refused.map(([, files]) => folder(files)))
    for (const [index, [what, , message]] of refused.entries()) {
      expect(told[index], what).toMatch(/^ConfigurationError magic\.config\.\w+ cannot be used \(\/.*\): /)
      expect(told[index], what).toMatch(message)
    }
  })

  test('names a missing path and an unsupported file type', async () => {
    await expect(loadConfiguration(join(root, 'nowhere'))).rejects.toThrow('there is no such file or folder')
    const path = folder({ 'settings.toml': '' })
    await expect(loadConfiguration(join(path, 'settings.toml'))).rejects.toThrow('it must end in .ts, .mts')
  })

  test('loads .env first without overriding variables that are set', async () => {
    const path = folder({
      '.env': 'MAGIC_TEST_NEW=from-file\nMAGIC_TEST_SET=from-file\n',
      'magic.config.mjs': 'export default { name: process.env.MAGIC_TEST_NEW }',
    })
    process.env['MAGIC_TEST_SET'] = 'before'
    try {
      expect((await loadConfiguration(path)).name).toBe('from-file')
      expect(process.env['MAGIC_TEST_SET']).toBe('before')
      expect(loadEnvironment(path)).toBe(join(path, '.env'))
      expect(loadEnvironment(root)).toBeUndefined()
    } finally {
      delete process.env['MAGIC_TEST_SET']
      delete process.env['MAGIC_TEST_NEW']
    }
  })
})

describe('fields', () => {
  const check = (value: unknown) => resolveConfiguration(value, '/x/magic.config.ts')

  test.each<[unknown, string]>([
    [{ nmae: 'x' }, "nmae: there is no such field. Did you mean 'name'? The fields are name, tasks, "],
    [{ name: 'My Task' }, 'name: must have lower-case letters'],
    [{ tasks: 'gsm8' }, "Did you mean 'gsm8k'?"],
    [
      { tasks: 'q.txt' },
      "tasks: 'q.txt' is neither a question file (.jsonl or .csv) nor one of synthetic, mmlu_pro",
    ],
    [{ tasks: { train: 'a.jsonl' } }, 'tasks: must be a question file, { train, test }'],
    [{ tasks: 'gsm8k', answer: 'text' }, "answer: 'gsm8k' has its own answers and scoring."],
    [{ tasks: 'gsm8k', profile: { tools: [] } }, "profile: 'gsm8k' has its own roles and tools."],
    [{ answer: 'integer' }, 'answer: Invalid option: expected one of "option"|'],
    [{ contract: {} }, 'contract: must be an answer contract; schemaContract'],
    [{ scorer: 'f1' }, 'scorer: must be a function (answer, reference) => score'],
    [
      { library: 'roles.json' },
      'library: must be a library (defineLibrary makes one) or the path of a YAML file',
    ],
    [{ profile: { role: [] } }, "profile.role: there is no such field. Did you mean 'roles'?"],
    [
      { tools: [{ name: 'x' }] },
      'tools[0]: must be a tool: { name, description, payload, run }, with a zod schema as its payload.',
    ],
    [{ model: 'gpt' }, "model: must be 'simulated' or settings, such as { preset: 'deepseek' }."],
    [{ model: { presett: 'openai' } }, "model.presett: there is no such field. Did you mean 'preset'?"],
    [{ model: { preset: 'acme' } }, 'model.preset: Invalid option'],
    [{ model: { prices: { 'a/b': { input: -1 } } } }, 'model.prices["a/b"].input'],
    [{ encoder: { foldr: 'x' } }, "encoder.foldr: there is no such field. Did you mean 'folder'?"],
    [{ preset: 'fast' }, 'preset: Invalid option: expected one of "paper"|"values".'],
    [
      { training: { rewards: { alfa: 1 } } },
      "training.rewards.alfa: there is no such field. Did you mean 'alpha'?",
    ],
    [{ training: { trajectories: 1 } }, 'training.trajectories: Too small'],
    [
      { execution: { decoding: { temprature: 0 } } },
      "execution.decoding.temprature: there is no such field. Did you mean 'temperature'?",
    ],
    [{ execution: { prices: {} } }, 'execution.prices: there is no such field.'],
    [
      { budget: { money: 3 } },
      'budget.money: there is no such field. The fields are cost, tokens, calls, minutes.',
    ],
    [{ concurrency: 0 }, 'concurrency: Too small'],
    [null, 'the configuration: Invalid input: expected object'],
  ])('%j is refused', (value, message) => {
    expect(() => check(value)).toThrow(message)
  })

  test('all errors are reported at once', () => {
    expect(() => check({ concurrency: 0, budget: { cost: -1 }, x: 1 })).toThrow(
      /^magic\.config\.ts cannot be used \(\/x\/magic\.config\.ts\)\.\n- budget\.cost: .*\n- concurrency: .*\n- x: /,
    )
  })

  test('settings stay as given, so a preset can fill in the rest', () => {
    const given = defineConfig({
      preset: 'values',
      training: { passes: 3 },
      model: { preset: 'ollama', apiKeyFile: 'key' },
    })
    expect(check({ ...given, name: undefined })).toEqual({
      preset: 'values',
      training: { passes: 3 },
      model: { preset: 'ollama', apiKeyFile: '/x/key' },
      file: '/x/magic.config.ts',
    })
  })

  test('a library is read from YAML beside the file, with its own tools', async () => {
    const path = folder({
      'roles.yaml': toYaml(paperLibrary),
      'magic.config.json': JSON.stringify({ library: 'roles.yaml' }),
    })
    expect((await loadConfiguration(path)).library!.fingerprint).toBe(paperLibrary.fingerprint)
  })
})

describe('ownTasksOf', () => {
  test('reads the files named in the configuration', async () => {
    const path = folder({
      'q.jsonl': questions,
      'magic.config.json': JSON.stringify({
        name: 'sums',
        tasks: 'q.jsonl',
        tolerance: 0.1,
        profile: { tools: [] },
      }),
    })
    const set = (await ownTasksOf(await loadConfiguration(path)))!
    expect(set).toMatchObject({ name: 'sums', answerKind: 'number', profile: { tools: [] } })
    const reference = set.splits['train']!.references.values().next().value
    expect(reference).toMatchObject({ kind: 'number', tolerance: 0.1 })
  })

  test('accepts the tasks of defineTasks', async () => {
    const rows = [1, 2, 3].map((n) => ({ question: `${n}?`, answer: n }))
    const configuration = resolveConfiguration(
      { tasks: defineTasks({ name: 'sums', questions: rows }), answer: 'text' },
      '/x/magic.config.ts',
    )
    expect((await ownTasksOf(configuration))!.answerKind).toBe('text')
  })

  test('ignores built-in sets', async () => {
    for (const tasks of ['synthetic', 'gsm8k'])
      expect(await ownTasksOf(resolveConfiguration({ tasks }, '/x/magic.config.ts'))).toBeUndefined()
  })
})
