import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiPage, makeApiPage } from '../scripts/api-docs.ts'
import * as library from '../src/index.ts'

// What a new user does: install the packed package into an empty project, and use it. Nothing here needs a
// network: zod, the only other package, is packed from this checkout. The API reference is checked here too,
// since it comes from the same slow build.

const root = fileURLToPath(new URL('..', import.meta.url))
const tools = join(root, 'node_modules/.bin')
const minutes = 60_000

let project: string
let tarball: string

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'magic-stranger-'))
  const pack = async (folder: string) => {
    const words = ['pack', folder, '--json', '--silent', '--pack-destination', project]
    const { stdout } = await run(root, 'npm', ...words)
    // The build started by `prepack` may have printed something first.
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
    return join(project, filename)
  }
  tarball = await pack('.')
  const zod = await pack('./node_modules/zod')
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
  await run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', tarball, zod)
}, 30 * minutes)

afterAll(() => rmSync(project, { recursive: true, force: true }))

test('docs/api.md is up to date with the public names', () => {
  expect(apiPage(), 'run `npm run docs:api`').toBe(makeApiPage(join(project, 'api.json')))
  for (const name of Object.keys(library)) expect(apiPage()).toContain(`\n### ${name}\n`)
})

test('publint and attw find no problem', async () => {
  const bytes = readFileSync(tarball)
  const { messages } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
  })
  expect(messages).toEqual([])
  await run(root, join(tools, 'attw'), tarball, '--profile', 'esm-only', '--no-emoji', '--no-color')
})

test('it is two packages and below 15 MB', () => {
  const modules = join(project, 'node_modules')
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['magic-agents', 'zod'])
  expect(diskUse(modules)).toBeLessThan(15_000_000)
})

test('an uncaught error fits on a screen', async () => {
  write('no-key.js', "import { openModel } from 'magic-agents'\nopenModel({ preset: 'deepseek' })\n")
  const { stderr } = await fail(project, process.execPath, 'no-key.js')
  expect(stderr).toContain('Problem: No API key for deepseek. Set DEEPSEEK_API_KEY')
  expect(stderr).toContain('at openModel')
  expect(stderr.length).toBeLessThan(2000)
  const mapped = await fail(project, process.execPath, '--enable-source-maps', 'no-key.js')
  const [, line] = /src\/models\/open-model\.ts:(\d+)/.exec(mapped.stderr)!
  const source = readFileSync(join(root, 'src/models/open-model.ts'), 'utf8').split('\n')
  expect(source[Number(line) - 1]).toContain('new Problem(')
})

test('it contains code with maps, declarations, docs, examples and licences, but no sources or tests', () => {
  const files = readdirSync(join(project, 'node_modules/magic-agents'), { recursive: true }) as string[]
  for (const file of ['dist/index.js', 'dist/api.js.map', 'dist/index.d.ts', 'dist/third-party-licenses.txt'])
    expect(files).toContain(file)
  for (const file of ['docs/training.md', 'examples/task.json', 'README.md', 'LICENSE'])
    expect(files).toContain(file)
  expect(files.filter((file) => /\.test\.|^src|^test|^scripts|declarations/.test(file))).toEqual([])
})

test(
  'npx magic demo --quick works',
  async () => {
    const { stdout } = await run(project, 'npx', '--no-install', 'magic', 'demo', '--quick')
    expect(stdout).toContain('The trained policy')
  },
  10 * minutes,
)

test(
  'npx magic view shows the run, because the pages are in the package',
  async () => {
    const magic = join(project, 'node_modules/magic-agents/bin/magic.js')
    const server = spawn(process.execPath, [magic, 'view', '--runs-dir', 'runs', '--port', '0', '--json'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = await once(server.stdout, 'data')
      const { url } = JSON.parse(String(line))
      const index = await (await fetch(url)).text()
      const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(index)!
      expect((await fetch(`${url}${script}`)).headers.get('content-type')).toMatch(/^text\/javascript/)
      const runs = (await (await fetch(`${url}/api/runs`)).json()) as { name: string; status: string }[]
      expect(runs).toMatchObject([{ name: 'quick-demo-0', status: 'finished' }])
    } finally {
      const ended = once(server, 'exit')
      server.kill('SIGINT')
      await ended
    }
  },
  10 * minutes,
)

test(
  'a configuration outside any project imports the package and zod',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'magic-loose-'))
    try {
      writeFileSync(
        join(folder, 'magic.config.ts'),
        `import { defineConfig } from 'magic-agents'
      import { z } from 'zod'
      export const payload = z.object({})
      export default defineConfig({ tasks: 'q.jsonl', training: { updates: 1 } })`,
      )
      const question = (n: number) => JSON.stringify({ question: `What is ${n} + 1?`, answer: `${n + 1}` })
      writeFileSync(
        join(folder, 'q.jsonl'),
        Array.from({ length: 12 }, (_, n) => `${question(n)}\n`).join(''),
      )
      const magic = join(project, 'node_modules/.bin/magic')
      const { stdout } = await run(folder, magic, 'train', '--preset', 'paper', '--name', 'loose', '--json')
      expect(JSON.parse(stdout)).toMatchObject({ status: 'finished' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  10 * minutes,
)

test(
  'strict TypeScript compiles with skipLibCheck off, and code trains and asks',
  async () => {
    write(
      'use.ts',
      `import { type Tool, executionSettings, knownTasks, loadPolicy, openSimulated, solve, syntheticTaskSet, train } from 'magic-agents'
    import { z } from 'zod'
    export const payload = z.object({ city: z.string() })
    export const tool: Tool<{ city: string }> = {
      name: 'weather',
      description: 'The weather in a city: {"city": "Rome"}.',
      payload,
      run: async () => ({ status: 'ok', result: { weather: 'sunny' } }),
    }
    const temperature: number = executionSettings.parse({}).decoding.temperature
    // @ts-expect-error It is a number.
    const wrong: string = temperature
    void wrong
    const set = syntheticTaskSet({ train: 8, test: 4, families: ['arithmetic'] })
    const simulated = await openSimulated({ tasks: knownTasks(set) })
    await train({ set, model: simulated.model, folder: 'runs/code', settings: { updates: 1, trajectories: 2 }, sandbox: null })
    const policy = await loadPolicy('runs/code')
    const { answer, graph } = await solve({ policy, model: simulated.model, task: set.splits['test']!.tasks[0]! })
    await simulated.close()
    console.log(JSON.stringify({ answer, units: graph.units.length }))
    `,
    )
    write(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noEmit: true },
          ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'esnext.disposable'] },
          ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
        },
        files: ['use.ts'],
      }),
    )
    await run(project, join(tools, 'tsc'), '-p', '.')
    const { stdout } = await run(project, process.execPath, 'use.ts')
    expect(JSON.parse(stdout).units).toBeGreaterThan(0)
  },
  10 * minutes,
)

test('stack traces name the sources', async () => {
  write(
    'throw.js',
    `import { AgentGraph } from 'magic-agents'
    AgentGraph.of([{ role: 'x', realization: 'atomic', predecessors: [7] }])`,
  )
  const { stderr } = await fail(project, process.execPath, '--enable-source-maps', 'throw.js')
  expect(stderr).toMatch(/src\/graph\/agent-graph\.ts:\d+/)
})

test('an older Node and Bun are refused in one sentence, by the command and by the import', async () => {
  write('import.js', "import { train } from 'magic-agents'\ntrain()")
  const magic = join(project, 'node_modules/magic-agents/bin/magic.js')
  const pretend = (name: string, version: string) => [
    '--import',
    `data:text/javascript,Object.defineProperty(process.versions, '${name}', { value: '${version}' })`,
  ]
  const cases: [string, string[], string][] = [
    [
      process.execPath,
      pretend('node', '22.23.3'),
      'magic-agents needs Node 24 or newer, and this is Node 22.23.3',
    ],
    [process.execPath, pretend('bun', '1.4.4'), 'magic-agents runs on Node 24 or newer and not on Bun'],
  ]
  // The system's own Node is often older: then there is no need to fake it.
  const system = '/usr/bin/node'
  const version = existsSync(system) ? (await run(project, system, '--version')).stdout.trim() : 'v24'
  if (Number(/\d+/.exec(version)) < 24) cases.push([system, [], `and this is Node ${version.slice(1)}`])
  for (const [node, flags, sentence] of cases) {
    const command = await fail(project, node, ...flags, magic, 'doctor')
    expect(command).toMatchObject({ code: 2, stdout: '' })
    expect(command.stderr).toMatch(/^magic: [^\n]+\n$/)
    expect(command.stderr).toContain(sentence)
    expect((await fail(project, node, ...flags, 'import.js')).stderr).toContain(sentence)
  }
})

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text)
}

/** Counts whole blocks, like `du`. */
function diskUse(path: string): number {
  const { blocks } = lstatSync(path)
  const inside = lstatSync(path).isDirectory() ? readdirSync(path) : []
  return blocks * 512 + inside.reduce((sum, name) => sum + diskUse(join(path, name)), 0)
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function run(cwd: string, file: string, ...words: string[]): Promise<Ended> {
  const ended = await start(cwd, file, words)
  expect(ended.code, `${file} ${words.join(' ')}\n${ended.stdout}${ended.stderr}`).toBe(0)
  return ended
}

async function fail(cwd: string, file: string, ...words: string[]): Promise<Ended> {
  const ended = await start(cwd, file, words)
  expect(ended.code, ended.stdout).not.toBe(0)
  return ended
}

function start(cwd: string, file: string, words: string[]): Promise<Ended> {
  // The Node that runs the tests comes first, as on a machine with Node 24.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const MAGIC_API_MODEL = join(project, 'api.json')
  const env = { ...process.env, PATH, NO_COLOR: '1', MAGIC_RUNS_DIR: 'runs', MAGIC_API_MODEL }
  return new Promise((resolve) => {
    execFile(file, words, { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr })
    })
  })
}
