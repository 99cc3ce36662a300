import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { outputSchemas, schemaFiles } from '../../scripts/output-schemas.ts'
import { allCommands } from '../../src/cli/program.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { humaneval } from '../../src/tasks/benchmarks/humaneval.ts'
import { serveFiles } from '../file-server.ts'
import { magicIn, magicProcess } from '../magic.ts'
import { Postgres } from '../postgres/server.ts'
import { describeShared, sharedPath } from '../shared.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'magic-schemas-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('docs/schemas/ is up to date', () => {
  for (const { file, text } of schemaFiles())
    expect(readFileSync(file, 'utf8'), 'run `npm run docs:schemas`').toBe(text)
  expect(readdirSync(at('docs/schemas')).length).toBe(Object.keys(outputSchemas).length)
})

/** The names of all commands with `--json`, such as `data-list`. */
function jsonCommands(commands: readonly Command[], before = ''): string[] {
  return commands.flatMap((command) => {
    const name = `${before}${command.name()}`
    const own = command.options.some(({ long }) => long === '--json') ? [name] : []
    return [...own, ...jsonCommands(command.commands, `${name}-`)]
  })
}

test('every command with --json has a schema', async () => {
  const names = jsonCommands(await allCommands())
  expect(names.length).toBeGreaterThan(25)
  expect(names.filter((name) => outputSchemas[name] === undefined)).toEqual([])
})

/** The schemas that printed output was checked against. */
const shown = new Set<string>()

test(
  'the --json output of every command fits its schema, also as JSON Schema',
  async () => {
    const questions = Array.from({ length: 8 }, (_, n) =>
      JSON.stringify({ id: `q${n}`, question: `What is ${n} plus 1?`, answer: String(n + 1) }),
    )
    writeFileSync(join(folder, 'q.jsonl'), questions.join('\n'))
    const small = ['--probes', '1', '--updates', '2', '--set', 'hidden=8', 'maxUnits=2']
    const commands: [schema: string, ...words: string[]][] = [
      ['train', 'train', 'q.jsonl', '--name', 't', '--encoder', 'lexical', ...small],
      ['resume', 'resume', 't'],
      ['eval', 'eval', 't', '--organisation', 'trained,direct'],
      ['eval-plan', 'eval', 't', '--organisation', 'trained,dylan', '--dry-run'],
      ['eval-plan', 'eval', 'q.jsonl', '--organisation', 'llm-debate', '--matched', '--dry-run'],
      ['compare', 'compare', 't', '--base', 'direct', '--list', 'both', '--transcript'],
      ['report', 'report', 't', '-o', 'report'],
      ['organisations', 'organisations'],
      ['show', 'show', 't'],
      ['show-runs', 'show'],
      ['verify', 'verify', 't'],
      ['ask', 'ask', 't', 'What is 2 plus 1?'],
      ['export', 'export', 't'],
      ['ledger-copy', 'ledger', 'copy', 't', 'copy.sqlite'],
      ['estimate', 'estimate', 'q.jsonl', ...small],
      ['estimate', 'train', 'q.jsonl', '--organisation', 'gptswarm:iterations=9', '--dry-run'],
      ['demo', 'demo', '--quick'],
      ['experiment', 'experiment', 'd2'],
      ['experiment-plan', 'experiment', 'd3', '--tasks', 'q.jsonl', '--encoder', 'lexical', '--dry-run'],
      ['graph', 'graph', '--seed', '7', 'Which planet has the shortest day?'],
      ['run', 'run', '--graph', at('examples/graph.json'), '--task', at('examples/task.json')],
      ['data-list', 'data', 'list'],
      ['doctor', 'doctor'],
      ['init', 'init', 'my-task'],
    ]
    for (const [schema, ...words] of commands) await expectPrinted(schema, words)
    const [task] = new RunFolder(join(folder, 'runs', 't')).readMembership().splits['test']!
    await expectPrinted('show-question', ['show', 't', '--question', task!])
    for (const [schema, ...words] of [
      ['simulate', 'simulate'],
      ['view', 'view'],
      ['serve', 'serve', 't'],
    ])
      expectFits(schema!, await firstLine([...words, '--port', '0', '--json']))
  },
  60 * 60_000,
)

describeShared('benchmark data', () => {
  test('the output of `magic data` fits', async () => {
    const words = ['--data-dir', join(folder, 'data')]
    await expectPrinted('data-import', [
      'data',
      'import',
      'livecodebench',
      sharedPath('data', 'livecodebench'),
      ...words,
    ])
    await expectPrinted('data-show', ['data', 'show', 'livecodebench', ...words])
    const { repository, revision } = humaneval.source
    const { file, path } = humaneval.splits['test']!.files[0]!
    const content = readFileSync(sharedPath('data', ...file.split('/')))
    const server = await serveFiles(new Map([[`/${repository}/${revision}/${path}`, content]]))
    try {
      await expectPrinted('data-pull', ['data', 'pull', 'humaneval', '--mirror', server.url, ...words])
    } finally {
      await server.close()
    }
  })
})

test('the output of the PostgreSQL commands fits', async () => {
  const postgres = await Postgres.start()
  try {
    const env = { MAGIC_LEDGER: await postgres.database() }
    await expectPrinted('ledger-copy', ['ledger', 'copy', 't', 'postgres'], env)
    const [{ name }] = (await expectPrinted('ledger-list', ['ledger', 'list'], env)) as [{ name: string }]
    await expectPrinted('workers', ['workers'], env)
    await expectPrinted('ledger-remove', ['ledger', 'remove', name], env)
  } finally {
    await postgres.stop()
  }
})

test('every schema is tested', () => {
  expect([...shown].sort()).toEqual(Object.keys(outputSchemas).sort())
})

async function expectPrinted(
  schema: string,
  words: readonly string[],
  env?: Record<string, string>,
): Promise<unknown> {
  const { stdout, stderr } =
    env === undefined
      ? await magicIn(folder, ...words, '--json')
      : await magicProcess({ cwd: folder, env }, ...words, '--json')
  expect(stdout, `${words.join(' ')}: ${stderr}`).not.toBe('')
  const output = JSON.parse(stdout)
  expectFits(schema, output)
  return output
}

function expectFits(schema: string, output: unknown): void {
  const { error } = outputSchemas[schema]!.safeParse(output)
  expect(error && z.prettifyError(error), schema).toBe(undefined)
  const published = JSON.parse(readFileSync(at(`docs/schemas/${schema}.json`), 'utf8'))
  expect(z.fromJSONSchema(published).safeParse(output).success, schema).toBe(true)
  shown.add(schema)
}

/** What a server prints when it starts listening. */
async function firstLine(words: readonly string[]): Promise<unknown> {
  const server = spawn(process.execPath, [at('bin/magic.js'), ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    let text = ''
    for await (const chunk of server.stdout) {
      text += chunk
      if (text.includes('\n')) break
    }
    return JSON.parse(text)
  } finally {
    const ended = once(server, 'exit')
    server.kill()
    await ended
  }
}
