import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FaultServer } from '../faults/fault-server.ts'
import { magic, magicWith } from '../magic.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-run-'))
const file = (name: string, content: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const task = file('task.json', {
  question: 'A train needs 3 hours for 240 km. How fast is it, in km per hour?',
})
const graph = file('graph.json', {
  units: [
    { role: 'quantitative_modeler', realization: 'atomic', predecessors: [] },
    { role: 'calculation_auditor', realization: 'group', predecessors: [0] },
    { role: 'adversarial_verifier', realization: 'atomic', predecessors: [0] },
  ],
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('magic run on the simulated model', () => {
  test('shows the nodes and prints only the answer to standard output', async () => {
    const { code, stdout, stderr } = await magic(
      'run',
      '--graph',
      graph,
      '--task',
      task,
      '--profile',
      'gsm8k',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^-?[0-9.,]+\n$/)
    expect(stderr).toContain('Running 7 nodes')
    expect(stderr).toContain('✓ calculation_aggregator (aggregator)')
    expect(stderr).toContain('simulated')
    expect(stderr).toContain('does not know this question, so its answer is a guess')
    expect(stderr).not.toContain('\u001b')
  })

  test('prints the whole trace as JSON, and the same answer again', async () => {
    const words = ['run', '--graph', graph, '--task', task, '--profile', 'gsm8k', '--json']
    const [first, again] = [await magic(...words), await magic(...words)].map(({ stdout }) =>
      JSON.parse(stdout),
    )
    expect(first.status).toBe('answered')
    expect(first.nodes).toHaveLength(7)
    expect(first.usage.calls).toBeGreaterThanOrEqual(7)
    expect(again.answer).toEqual(first.answer)
    expect(again.usage).toEqual(first.usage)
    expect(Object.keys(first.texts).length).toBeGreaterThan(0)
    const bare = JSON.parse((await magic(...words, '--no-content')).stdout)
    expect(bare.texts).toEqual({})
  })

  test('answers directly without a graph', async () => {
    const { code, stdout } = await magic('run', '--task', task, '--contract', 'number', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).nodes).toHaveLength(1)
  })

  test('replays a recorded run without the model', async () => {
    const recording = join(folder, 'calls.jsonl')
    const words = ['run', '--graph', graph, '--task', task, '--profile', 'gsm8k']
    const recorded = await magic(...words, '--record', recording)
    const replayed = await magic(...words, '--replay', recording, '--json')
    expect(replayed.code).toBe(0)
    expect(`${JSON.parse(replayed.stdout).answer}\n`).toBe(recorded.stdout)
    const other = await magic('run', '--task', task, '--replay', recording)
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('recording')
  })
})

describe('magic run prints model output', () => {
  let server: FaultServer
  const canary = 'sk-canary-5e1d77aa02'
  beforeAll(async () => {
    server = await FaultServer.start()
  })
  afterAll(() => server.close())
  const answered = (answer: string, ...more: string[]) => {
    const content = JSON.stringify({ analysis: 'x', answer })
    server.script()
    server.answer((body) => ({ content, promptTokens: body.length, completionTokens: 9 }))
    const words = ['run', '--task', task, '--model', 'openai', '--model-name', 'm', '--base-url', server.url]
    return magicWith({ OPENAI_API_KEY: canary }, ...words, ...more)
  }

  test('empty lines and tabs of a program are kept', async () => {
    const program = 'import math\n\n\ndef f(x):\n\treturn 2 * x\n'
    expect((await answered(program, '--contract', 'code')).stdout).toBe(`${program}\n`)
  })

  test('control sequences are escaped', async () => {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await answered('a\u001b]0;x\u0007b\u009bc\u202ed', ...more)
      expect(stdout).toContain('u009b')
      for (const character of ['\u001b', '\u0007', '\u009b', '\u202e']) {
        expect(stdout + stderr).not.toContain(character)
      }
    }
  })

  test('a key echoed by the server is redacted', async () => {
    const recording = join(folder, 'echo.jsonl')
    for (const more of [[], ['--json'], ['--record', recording]]) {
      const { stdout, stderr } = await answered(`your key is ${canary}`, ...more)
      expect(stdout).toContain('[redacted]')
      expect(stdout + stderr).not.toContain(canary)
    }
    expect(readFileSync(recording, 'utf8')).not.toContain(canary)
  })

  test('missing token counts are reported', async () => {
    server.script('no_usage')
    const words = ['run', '--task', task, '--model', 'openai', '--model-name', 'm', '--base-url', server.url]
    const { stderr } = await magicWith({ OPENAI_API_KEY: canary }, ...words)
    expect(stderr).toContain('Token counts are too low')
  })
})

describe('magic run reports invalid input', () => {
  test.each([
    ['no task', ['run'], '--task'],
    ['a missing file', ['run', '--task', 'none.json'], 'no such file'],
    ['no JSON', ['run', '--task', file('broken.json', '{"question":')], 'not valid JSON'],
    ['a reference', ['run', '--task', file('leak.json', { question: 'q', answer: '4' })], '"answer"'],
    [
      'an unknown role',
      [
        'run',
        '--task',
        task,
        '--graph',
        file('role.json', { units: [{ role: 'poet', realization: 'atomic' }] }),
      ],
      "'poet'",
    ],
    [
      'a cycle',
      [
        'run',
        '--task',
        task,
        '--graph',
        file('cycle.json', { units: [{ role: 'logic_reasoner', realization: 'atomic', predecessors: [0] }] }),
      ],
      'not an earlier unit',
    ],
    [
      'a realization that a role lacks, with control characters',
      [
        'run',
        '--task',
        task,
        '--graph',
        file('escape.json', { units: [{ role: 'ev\u001b[31mil', realization: 'atomic' }] }),
      ],
      'ev\\u001b[31mil',
    ],
    [
      'a recording that cannot be written',
      ['run', '--task', task, '--record', join(folder, 'no', 'such', 'x.jsonl')],
      'Cannot open',
    ],
    [
      'flags that the simulated model has no use for',
      ['run', '--task', task, '--base-url', 'http://127.0.0.1:1/v1'],
      '--base-url has no effect',
    ],
    ['no key', ['run', '--task', task, '--model', 'deepseek'], 'DEEPSEEK_API_KEY'],
    [
      'a foreign http address',
      ['run', '--task', task, '--model', 'vllm', '--model-name', 'm', '--base-url', 'http://example.org/v1'],
      'http',
    ],
  ])('%s', async (_name, words, reason) => {
    const { code, stderr } = await magicWith({ DEEPSEEK_API_KEY: '' }, ...words)
    expect(stderr).toContain(reason)
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(2)
  })
})

test('magic run refuses an edge the library does not allow', async () => {
  const executor = (id: string) => ({
    id,
    responsibility: 'It writes.',
    prompt: 'You write. Hand on what you wrote.',
  })
  const library = file('library.yaml', {
    roles: [
      { id: 'writer', description: 'Writes.', produces: ['draft'], atomic: executor('writer') },
      { id: 'finder', description: 'Finds.', accepts: [], produces: ['clause'], atomic: executor('finder') },
    ],
  })
  const forbidden = file('forbidden.json', {
    units: [
      { role: 'writer', realization: 'atomic' },
      { role: 'finder', realization: 'atomic', predecessors: [0] },
    ],
  })
  const { code, stderr } = await magic('run', '--task', task, '--library', library, '--graph', forbidden)
  expect(stderr).toContain('cannot precede finder')
  expect(code).toBe(2)
})

describe('magic run with a refusing server', () => {
  let server: FaultServer
  const canary = 'sk-canary-7f3a9c21d4'
  beforeAll(async () => {
    server = await FaultServer.start()
    server.script('echo_key_in_error')
  })
  afterAll(() => server.close())

  test('stops with its own exit code, and never shows the key', async () => {
    const recording = join(folder, 'refused.jsonl')
    const words = [
      'run',
      '--task',
      task,
      '--model',
      'openai',
      '--model-name',
      'm',
      '--base-url',
      server.url,
      '--record',
      recording,
    ]
    const { code, stdout, stderr } = await magicWith({ OPENAI_API_KEY: canary }, ...words, '--json')
    expect(code).toBe(5)
    for (const text of [stdout, stderr, readFileSync(recording, 'utf8')]) {
      expect(text).not.toContain(canary)
      expect(text).not.toContain(Buffer.from(canary).toString('base64').replace(/=+$/, ''))
    }
  })
})

test('magic doctor lists what is available and how to get the rest', async () => {
  const { code, stdout } = await magicWith(
    { DEEPSEEK_API_KEY: '' },
    'doctor',
    '--model',
    'deepseek',
    '--json',
  )
  const findings: { what: string; state: string; found: string }[] = JSON.parse(stdout)
  expect(findings.map(({ what }) => what)).toEqual(['Node', 'keys', 'model', 'sandbox', 'encoder'])
  expect(findings[2]).toMatchObject({ state: 'missing', found: expect.stringContaining('DEEPSEEK_API_KEY') })
  expect(code).toBe(1)
  expect((await magic('doctor')).stdout).toContain('simulated model answered')
})
