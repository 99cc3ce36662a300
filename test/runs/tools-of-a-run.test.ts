import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { magic, magicWithBubblewrap, type Outcome } from '../magic.ts'

// Many commands in turn, possibly on a busy machine.

const folder = mkdtempSync(join(tmpdir(), 'magic-tools-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const questions = join(folder, 'questions.jsonl')
writeFileSync(
  questions,
  Array.from({ length: 8 }, (_, n) =>
    JSON.stringify({ id: `q-${n}`, question: `What is ${n} times 7?`, answer: String(n * 7) }),
  ).join('\n'),
)

const without = (...words: string[]) => magicWithBubblewrap('/dev/null', ...words)
const small = ['--encoder', 'lexical', '--probes', '1', '--updates', '2', '--set', 'hidden=8', 'maxUnits=2']
const training = (name: string) => ['train', questions, ...small, '--name', name, '--runs-dir', folder]
const resumed = (name: string) => ['resume', name, '--max-calls', '10000', '--runs-dir', folder]
const toolsOf = (name: string) => JSON.parse(readFileSync(join(folder, name, 'run.json'), 'utf8')).tools
const weightsOf = (name: string) =>
  readFileSync(join(folder, name, 'checkpoints/update-000002/policy.safetensors'), 'base64')
const verified = (run: typeof magic, name: string) => run('verify', name, '--runs-dir', folder)

test('a run with bubblewrap is refused without it, by name, and continues once it is back', async () => {
  const begun = await magic(...training('with'), '--max-calls', '5')
  expect(begun).toMatchObject({ code: 3 })
  expect(begun.stderr).toContain('✓ tools    calculator, python_exec\n')
  expect(toolsOf('with')).toEqual({ sandbox: 'bubblewrap', on: ['calculator', 'python_exec'], off: {} })

  const record = readFileSync(join(folder, 'with/run.json'))
  for (const words of [resumed('with'), ['eval', 'with', '--runs-dir', folder]]) {
    const refused = await without(...words)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(
      'magic: This run was trained with python_exec, which cannot be used here: bubblewrap (bwrap) is not installed. Install bubblewrap and python3 (`npm run setup` as root)',
    )
  }
  expect(readFileSync(join(folder, 'with/run.json'))).toEqual(record)
  expect(await verified(without, 'with')).toMatchObject({ code: 0 })

  expect(await magic(...resumed('with'))).toMatchObject({ code: 0 })
  expect(await verified(magic, 'with')).toMatchObject({ code: 0 })
})

test('a run started without bubblewrap continues without it, to the same weights', async () => {
  const begun = await without(...training('bare'), '--max-calls', '5')
  expect(begun).toMatchObject({ code: 3 })
  expect(begun.stderr).toContain(
    '! tools    python_exec: off, because bubblewrap (bwrap) is not installed. Install bubblewrap',
  )
  const tools = toolsOf('bare')
  expect(tools).toMatchObject({ sandbox: null, on: ['calculator'] })
  expect(await magic(...resumed('bare'))).toMatchObject({ code: 0 })
  expect(toolsOf('bare')).toEqual(tools)
  expect(await verified(magic, 'bare')).toMatchObject({ code: 0 })
  expect(await without(...training('whole'))).toMatchObject({ code: 0 })
  expect(weightsOf('bare')).toBe(weightsOf('whole'))
})

test('a bubblewrap that does not start counts as missing, and says so', async () => {
  const begun = await magicWithBubblewrap('/bin/false', ...training('broken'), '--max-calls', '0')
  expect(begun).toMatchObject({ code: 3 })
  expect(begun.stderr).toMatch(/python_exec: off, because bubblewrap does not start: .* ended with 1\./)
})

test('the doctor says what to install', async () => {
  const { stdout } = await without('doctor')
  expect(stdout).toContain('none: tools that run programs are off')
  expect(stdout).toContain('apt-get install bubblewrap python3')
})

test('a run keeps its synthetic questions, whatever can be scored here', async () => {
  const begun = await without(
    ...['train', 'synthetic', '--train-size', '5', '--test-size', '5', ...small],
    ...['--name', 'synthetic', '--runs-dir', folder, '--max-calls', '5'],
  )
  expect(begun).toMatchObject({ code: 3 })
  expect(begun.stderr).toMatch(/! tools {4}public_code: off, because bubblewrap \(bwrap\) is not installed/)
  expect(toolsOf('synthetic')).toMatchObject({ on: ['calculator', 'table_reader'] })
  expect(await magic(...resumed('synthetic'))).toMatchObject({ code: 0 })
  expect(await verified(magic, 'synthetic')).toMatchObject({ code: 0 })
})

test('the quick demo is bit-identical with and without bubblewrap', async () => {
  const demo = ['demo', '--quick', '--json', '--runs-dir', folder]
  const numbers = ({ stdout }: Outcome) => {
    const { training, organisations, example } = JSON.parse(stdout)
    const { minutes: _, ...spent } = training.spent
    const rows = organisations.map(
      ({ organisation, score, tokens, calls, against }: Record<string, unknown>) => [
        ...[organisation, score, tokens, calls, against],
      ],
    )
    return { spent, rows, example }
  }
  const first = await magic(...demo)
  const second = await without(...demo)
  expect([first.code, second.code]).toEqual([0, 0])
  expect(numbers(second)).toEqual(numbers(first))
  const weights = (name: string) =>
    readFileSync(join(folder, name, 'checkpoints/update-000013/policy.safetensors'), 'base64')
  expect(weights('quick-demo-0-2')).toBe(weights('quick-demo-0'))
})
