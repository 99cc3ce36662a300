// A sandbox that fails midway, and programs that imitate that: neither may ever count as a result.
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { findProgram } from '../../src/sandbox/bubblewrap.ts'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { FaultServer } from '../faults/fault-server.ts'
import { magicWith, type Outcome } from '../magic.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { descendants } from './processes.ts'

oneAtATime()

const folder = mkdtempSync(join(tmpdir(), 'magic-sandbox-'))
const runs = join(folder, 'runs')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const questions = join(folder, 'questions.jsonl')
writeFileSync(
  questions,
  Array.from({ length: 10 }, (_, index) => ({
    id: `double-${index}`,
    // The test questions include the factors 2 and 3.
    split: index < 4 ? 'test' : 'train',
    question: `Write a function f(x) that returns x times ${index + 2}.`,
    program: { mode: 'function', entryPoint: 'f' },
    test: `def check(candidate):\n    assert all(map(candidate, [1, 2]))\n    assert candidate(3) == ${3 * (index + 2)}\n`,
  }))
    .map((record) => `${JSON.stringify(record)}\n`)
    .join(''),
)
const small = ['--encoder', 'lexical', '--probes', '1', '--set', 'hidden=8', 'maxUnits=2', '--runs-dir', runs]
const key = { OPENAI_API_KEY: 'sk-of-nobody' }
const training = (name: string, url: string) => [
  ...['train', questions, ...small, '--updates', '2', '--name', name],
  ...['--model', 'openai', '--model-name', 'm', '--base-url', url],
]
const answering = (program: (body: string) => string) => (body: string) => ({
  content: JSON.stringify({ analysis: 'x', answer: program(body) }),
  promptTokens: 10,
  completionTokens: 5,
})
const factor = (body: string) => /times (\d+)/.exec(body)?.[1] ?? '1'
const right = (body: string) => `def f(x):\n    return x * ${factor(body)}`

async function statuses(name: string): Promise<Record<string, number>> {
  const ledger = await SqliteLedger.open(join(runs, name, 'ledger.sqlite'))
  const counts: Record<string, number> = {}
  for await (const { evaluation } of ledger.entries()) {
    const status = evaluation.program ?? 'none'
    counts[status] = (counts[status] ?? 0) + 1
  }
  await ledger.close()
  return counts
}

function recordsOf(name: string, organisation: string): { program?: string; score: number }[] {
  const file = join(runs, name, 'evaluations', `test-${organisation}`, 'records.jsonl')
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe("a model's answer", () => {
  test.each([
    ['says that the task is broken', 'm = b\'{"broken":"x"}\'', 'runtime_error'],
    ['says nonsense', 'm = bytes(range(200))', 'runtime_error'],
    ['floods standard error', 'm = b""\nos.write(2, b"x" * 70000)', 'output_limit'],
    ['ends the loops of its tests', 'm = b""\ndef f(x):\n    raise StopIteration', undefined],
  ])('that %s leaves a run that ends, resumes, and verifies', async (what, line, status) => {
    const name = what.replaceAll(' ', '-')
    const server = await FaultServer.start()
    const frame = 'os.write(3, struct.pack(">I", len(m)) + m)\nos._exit(0)'
    const hostile = `import os, struct\n${line}\n${status === undefined ? '' : frame}`
    server.answer(answering(() => hostile))
    try {
      const trained = await magicWith(key, ...training(name, server.url))
      expect(trained.code, trained.stderr).toBe(0)
      expect(Object.keys(await statuses(name))).toEqual([status ?? 'runtime_error'])
      const resumed = await magicWith(key, 'resume', name, '--runs-dir', runs)
      expect(resumed.code, resumed.stderr).toBe(0)
      const words = ['eval', name, '--runs-dir', runs, '--organisation', 'direct', '--json']
      const evaluated = await magicWith(key, ...words)
      expect(evaluated.code, evaluated.stderr).toBe(0)
      const [report] = JSON.parse(evaluated.stdout).evaluations
      expect(report).toMatchObject({ score: { mean: 0 }, programs: { [status ?? 'runtime_error']: 4 } })
      const verified = await magicWith(key, 'verify', name, '--runs-dir', runs)
      expect(verified.code, verified.stdout + verified.stderr).toBe(0)
    } finally {
      await server.close()
    }
  })
})

const script = fileURLToPath(new URL('../../bin/magic.js', import.meta.url))
const switchFile = join(folder, 'broken')
const wrapper = join(folder, 'wrapper')
const breakIt = () => writeFileSync(switchFile, '')
const mendIt = () => rmSync(switchFile, { force: true })

/** The command in its own mount namespace, where `bwrap` is `/bin/false` while the switch is on. */
function magicWithSwitch(...words: string[]): Promise<Outcome> {
  const swap = 'mount --bind "$0" "$1" && shift && exec "$@"'
  const command = [
    '-m',
    'sh',
    '-c',
    swap,
    wrapper,
    findProgram('bwrap', '')!,
    process.execPath,
    script,
    ...words,
  ]
  return new Promise((resolve) => {
    execFile(
      'unshare',
      command,
      { env: { ...process.env, ...key, NO_COLOR: '1' } },
      (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
          stdout,
          stderr,
        }),
    )
  })
}

/** Kills every sandboxed process below this one, like a system out of memory, until told to stop. */
function killSandboxes(): () => void {
  const killing = setInterval(() => {
    for (const pid of descendants(process.pid)) {
      try {
        const name = readFileSync(`/proc/${pid}/comm`, 'utf8')
        if (name.startsWith('python3')) process.kill(pid, 'SIGKILL')
      } catch {
        // Ended while we were looking.
      }
    }
  }, 2)
  return () => clearInterval(killing)
}

// Only root may mount, and only in its own namespace.
describe.skipIf(process.getuid?.() !== 0)('a sandbox that fails midway', () => {
  const crash = 'import ctypes\nctypes.string_at(0)'

  async function expectResumable(
    name: string,
    run: (...words: string[]) => Promise<Outcome>,
    harm: () => void,
    mend: () => void,
  ): Promise<void> {
    const server = await FaultServer.start()
    let answers = 0
    let harmAfter = 12
    server.answer(
      answering((body) => {
        answers += 1
        if (answers === harmAfter) harm()
        // A sandbox is not reused after a crash, so the next program needs another one.
        return /times [27]\b/.test(body) ? crash : right(body)
      }),
    )
    try {
      const trained = await run(...training(name, server.url))
      expect(trained.code, trained.stderr).toBe(7)
      expect(trained.stderr).toContain('the sandbox failed, in fresh ones too')
      expect(trained.stderr).not.toContain('    at ')
      const again = await run('resume', name, '--runs-dir', runs)
      expect([2, 7], again.stderr).toContain(again.code)
      mend()
      const before = await statuses(name)
      expect(Object.keys(before).every((status) => ['passed', 'runtime_error'].includes(status))).toBe(true)
      const resumed = await run('resume', name, '--runs-dir', runs)
      expect(resumed.code, resumed.stderr).toBe(0)
      const words = ['eval', name, '--runs-dir', runs, '--organisation', 'direct', '--json']
      answers = 0
      harmAfter = 2
      const broken = await run(...words)
      expect(broken.code, broken.stderr).toBe(7)
      mend()
      harmAfter = -1
      const evaluated = await run(...words)
      expect(evaluated.code, evaluated.stderr).toBe(0)
      const records = recordsOf(name, 'direct')
      expect(records).toHaveLength(4)
      for (const { program, score } of records)
        expect([program, score]).toEqual(program === 'passed' ? ['passed', 1] : ['runtime_error', 0])
      const verified = await run('verify', name, '--runs-dir', runs)
      expect(verified.code, verified.stdout + verified.stderr).toBe(0)
    } finally {
      mend()
      await server.close()
    }
  }

  test('bwrap is replaced by /bin/false: exit 7, nothing stored, resumable', async () => {
    copyFileSync(findProgram('bwrap', '')!, join(folder, 'bwrap'))
    writeFileSync(
      wrapper,
      `#!/bin/sh\n[ -e ${switchFile} ] && exec /bin/false\nexec ${folder}/bwrap "$@"\n`,
      { mode: 0o755 },
    )
    // The sandbox's own user needs access.
    chmodSync(folder, 0o755)
    await expectResumable('replaced', magicWithSwitch, breakIt, mendIt)
  })

  test('its processes are killed: exit 7, nothing stored, resumable', async () => {
    let stop = () => {}
    const harm = () => {
      stop = killSandboxes()
    }
    await expectResumable(
      'killed',
      (...words) => magicWith(key, ...words),
      harm,
      () => stop(),
    )
  })
})
