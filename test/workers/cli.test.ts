import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outputSchemas } from '../../scripts/output-schemas.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { canaryPassword, Postgres } from '../postgres/server.ts'

let postgres: Postgres
const folder = mkdtempSync(join(tmpdir(), 'magic-deployed-'))
beforeAll(async () => {
  postgres = await Postgres.start()
})
afterAll(async () => {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** `magic` in a process of its own; without an address there is no PostgreSQL for it. */
function magic(words: readonly string[], address?: string) {
  const { MAGIC_LEDGER: _, ...env } = process.env
  const main = new URL('../../bin/magic.js', import.meta.url).pathname
  const child = spawn(process.execPath, [main, ...words], {
    cwd: folder,
    env: { ...env, ...(address === undefined ? {} : { MAGIC_LEDGER: address }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const told = Promise.all([text(child.stdout), text(child.stderr)])
  const ended = once(child, 'close').then(async ([code]) => {
    const [out, errors] = await told
    return { code, out, errors }
  })
  return { child, ended }
}

const weights = (run: string) => {
  const there = new RunFolder(join(folder, 'runs', run))
  return readFileSync(join(there.checkpointPath(there.checkpoints().at(-1)!), 'policy.safetensors'))
}

test('a trainer, two workers and an evaluation, as deploy/ starts them', async () => {
  const address = await postgres.database()
  const size = [
    '--train-size',
    '6',
    '--test-size',
    '6',
    '--encoder',
    'lexical',
    '--method',
    'paper',
    '--updates',
    '2',
  ]
  const alone = await magic(['train', 'synthetic', '--name', 'alone', ...size]).ended
  expect(alone.errors).toContain('done')
  const refused = await magic(['train', 'synthetic', '--name', 'first', '--workers', ...size]).ended
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('MAGIC_LEDGER') })

  const workers = ['blue', 'green'].map((name) =>
    magic(['worker', '--name', name, '--concurrency', '4'], address),
  )
  const capped = ['train', 'synthetic', '--name', 'first', '--workers', '--max-calls', '10', ...size]
  expect(await magic(capped, address).ended).toMatchObject({ code: 3 })
  const trained = await magic(['resume', 'first', '--workers', '--max-calls', '10000'], address).ended
  expect(trained).toMatchObject({ code: 0 })
  expect(weights('first')).toEqual(weights('alone'))
  expect((await magic(['verify', 'first'], address).ended).code).toBe(0)

  const here = await magic(['eval', 'alone', '--json']).ended
  const there = await magic(['eval', 'first', '--workers', '--json'], address).ended
  expect(there.errors).toBeDefined()
  const facts = ({ out }: { out: string }) => {
    const { evaluations, used } = JSON.parse(out)
    const [{ score, tokens, n, complete }] = evaluations
    return { score, tokens, n, complete, calls: used.calls, used: used.tokens }
  }
  expect(facts(there)).toEqual(facts(here))

  const shown = await magic(['workers', '--json'], address).ended
  outputSchemas['workers']!.parse(JSON.parse(shown.out))
  expect(JSON.parse(shown.out).workers).toMatchObject([{ name: 'blue' }, { name: 'green' }])
  for (const { child } of workers) child.kill('SIGTERM')
  for (const { code, errors } of await Promise.all(workers.map(({ ended }) => ended))) {
    expect(code).toBe(0)
    expect(errors).toContain('Done.')
    expect(errors).not.toContain(canaryPassword)
  }
  expect(JSON.parse((await magic(['workers', '--json'], address).ended).out).workers).toEqual([])
})
