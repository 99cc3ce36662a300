import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { outputSchemas, schemaFiles } from '../../scripts/output-schemas.ts'
import { magicIn } from '../magic.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'magic-schemas-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('docs/schemas/ is what the schemas say', () => {
  for (const { file, text } of schemaFiles())
    expect(readFileSync(file, 'utf8'), 'run `npm run docs:schemas`').toBe(text)
  expect(readdirSync(at('docs/schemas')).length).toBe(Object.keys(outputSchemas).length)
})

test(
  'what every command prints with --json fits its schema, as JSON Schema too',
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
      ['compare', 'compare', 't', '--base', 'direct'],
      ['organisations', 'organisations'],
      ['show', 'show', 't'],
      ['show-runs', 'show'],
      ['verify', 'verify', 't'],
      ['ask', 'ask', 't', 'What is 2 plus 1?'],
      ['export', 'export', 't'],
      ['ledger-copy', 'ledger', 'copy', 't', 'copy.sqlite'],
      ['estimate', 'estimate', 'q.jsonl', ...small],
      ['demo', 'demo', '--quick'],
      ['experiment', 'experiment', 'd2'],
      ['experiment-plan', 'experiment', 'd3', '--tasks', 'q.jsonl', '--encoder', 'lexical', '--dry-run'],
      ['graph', 'graph', '--seed', '7', 'Which planet has the shortest day?'],
      ['run', 'run', '--graph', at('examples/graph.json'), '--task', at('examples/task.json')],
      ['data-list', 'data', 'list'],
      ['doctor', 'doctor'],
      ['init', 'init', 'my-task'],
    ]
    for (const [schema, ...words] of commands) {
      const { stdout, stderr } = await magicIn(folder, ...words, '--json')
      expect(stdout, `${words.join(' ')}: ${stderr}`).not.toBe('')
      expectFits(schema, JSON.parse(stdout))
    }
    expectFits('simulate', await simulated())
    // test/workers/cli.test.ts holds the one that needs a PostgreSQL.
    expect([...commands.map(([schema]) => schema), 'simulate', 'workers'].sort()).toEqual(
      Object.keys(outputSchemas).sort(),
    )
  },
  60 * 60_000,
)

function expectFits(schema: string, output: unknown): void {
  const { error } = outputSchemas[schema]!.safeParse(output)
  expect(error && z.prettifyError(error), schema).toBe(undefined)
  const published = JSON.parse(readFileSync(at(`docs/schemas/${schema}.json`), 'utf8'))
  expect(z.fromJSONSchema(published).safeParse(output).success, schema).toBe(true)
}

/** It prints its line and serves until it is ended. */
async function simulated(): Promise<unknown> {
  const server = spawn(process.execPath, [at('bin/magic.js'), 'simulate', '--json'])
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
