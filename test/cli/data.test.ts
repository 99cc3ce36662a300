import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommanderError } from 'commander'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { dataCommand } from '../../src/cli/commands/data.ts'
import { explain } from '../../src/cli/problem.ts'
import { knownTasks } from '../../src/simulator/model/known-task.ts'
import { humaneval } from '../../src/tasks/benchmarks/humaneval.ts'
import { benchmarkTaskSet } from '../../src/tasks/studies/benchmark-task-set.ts'
import { serveFiles } from '../file-server.ts'
import { describeShared, sharedPath } from '../shared.ts'

const temporary = () => mkdtempSync(join(tmpdir(), 'cli-data-'))
const exitBefore = process.exitCode

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  process.exitCode = exitBefore
})

/** Runs `magic data` with these words in this process. */
async function data(...words: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text)
      return true
    })
  process.exitCode = 0
  try {
    await dataCommand().exitOverride().parseAsync(words, { from: 'user' })
    return { ...written, code: Number(process.exitCode) }
  } catch (error) {
    if (error instanceof CommanderError) return { ...written, code: error.exitCode === 0 ? 0 : 2 }
    const { message, code } = explain(error)
    return { ...written, stderr: `${written.stderr}${message}\n`, code }
  } finally {
    vi.restoreAllMocks()
    process.exitCode = exitBefore
  }
}

describe('magic data', () => {
  test('lists all eight, also as JSON', async () => {
    vi.stubEnv('MAGIC_DATA_DIR', temporary())
    const { stdout, code } = await data('list')
    expect(code).toBe(0)
    expect(stdout).toMatch(/gsm8k .*GSM8K, accuracy, MIT/)
    expect(stdout).not.toContain('\u001b')
    const entries = JSON.parse((await data('list', '--json')).stdout)
    expect(entries).toHaveLength(8)
    expect(entries[3]).toMatchObject({
      name: 'gsm8k',
      licence: 'MIT',
      splits: [
        { split: 'train', examples: 7473, imported: false },
        { split: 'test', examples: 1319, imported: false },
      ],
    })
  })

  test('keeps its files in the conventional places', async () => {
    const home = temporary()
    vi.stubEnv('MAGIC_DATA_DIR', '')
    vi.stubEnv('XDG_DATA_HOME', home)
    expect((await data('list')).stdout).toContain(join(home, 'magic', 'data'))
    expect((await data('list', '--data-dir', '/elsewhere')).stdout).toContain('/elsewhere')
  })

  test.each([
    [['import', 'gsm8k', '/no/such/file'], '/no/such/file: there is no such file'],
    [['import', 'gsm9k', 'x'], 'Allowed choices are mmlu_pro'],
    [['import', 'gsm8k'], "missing required argument 'path'"],
    [['show', 'gsm8k', '--split', 'dev'], "no split 'dev'; it has train, test"],
    [['show', 'gsm8k', '--split', 'test'], 'test.jsonl: there is no such file'],
    [['show', 'gsm8k', '--limit', 'x'], '--limit'],
  ])('%j exits with 2 and says why', async (words, reason) => {
    vi.stubEnv('MAGIC_DATA_DIR', temporary())
    const { stderr, code } = await data(...words)
    expect(stderr).toContain(reason)
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(2)
  })

  test('says how to get missing data', async () => {
    vi.stubEnv('MAGIC_DATA_DIR', temporary())
    const { stdout } = await data('show', 'humaneval')
    expect(stdout).toContain('magic data pull humaneval')
  })
})

describeShared('magic data with the real files', () => {
  test('imports, then shows examples without their answers', async () => {
    const root = temporary()
    vi.stubEnv('MAGIC_DATA_DIR', root)
    const imported = await data('import', 'aqua', sharedPath('data', 'aqua'))
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(imported.stdout).toContain('aqua test: 254 examples')
    const shown = JSON.parse((await data('show', 'aqua', '--json', '--limit', '2')).stdout)
    expect(shown).toMatchObject({ name: 'aqua', split: 'test', licence: 'Apache-2.0' })
    expect(shown.examples).toHaveLength(2)
    expect(Object.keys(shown.examples[0]).sort()).toEqual(['id', 'metadata', 'options', 'question'])
    const text = (await data('show', 'aqua', '--split', 'dev', '--limit', '1')).stdout
    expect(text).toContain('dev dev-0')
    expect(text).toContain('"label":"A"')
    const list = JSON.parse((await data('list', '--json')).stdout)
    expect(list[2].splits.map((split: { imported: boolean }) => split.imported)).toEqual([false, true, true])
  })

  test('a wrong row is named, and nothing is imported', async () => {
    const root = temporary()
    const lines = readFileSync(sharedPath('data', 'aqua', 'dev.json'), 'utf8').split('\n')
    lines[10] = lines[10]!.replace('"correct"', '"corect"')
    const path = join(temporary(), 'dev.json')
    writeFileSync(path, lines.join('\n'))
    const good = sharedPath('data', 'aqua', 'test.json')
    const { stderr, code } = await data('import', 'aqua', good, path, '--data-dir', root)
    expect(stderr).toMatch(/dev\.json, row 11, field correct: /)
    expect(stderr).toContain(path)
    expect(code).toBe(2)
    expect(readdirSync(root)).toEqual([])
  })

  test('solutions are imported with LiveCodeBench’s sample and stay with the scorer', async () => {
    const root = temporary()
    vi.stubEnv('MAGIC_DATA_DIR', root)
    const beside = async () => {
      const entries = JSON.parse((await data('list', '--json')).stdout)
      return entries.map(({ companions }: { companions: unknown[] }) => companions)
    }
    const path = join(root, 'livecodebench', 'solutions.json')
    expect((await beside()).flat()).toMatchObject([{ path, bytes: null, imported: false }])
    expect((await data('list')).stdout).not.toContain('solutions.json')
    expect((await data('show', 'livecodebench')).stdout).toMatch(/^extra +solutions\.json: .*, missing$/m)

    const folder = sharedPath('data', 'livecodebench')
    const imported = await data('import', 'livecodebench', folder)
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(imported.stdout).toContain(`${path}  4,014 bytes  SHA-256 7e24a6eb`)
    expect(readFileSync(path)).toEqual(readFileSync(join(folder, 'solutions.json')))
    expect((await beside())[5]).toMatchObject([{ path, bytes: 4014, imported: true }])
    expect((await data('list')).stdout).toMatch(/^ {2}✓ solutions\.json +right programs/m)
    expect((await data('show', 'livecodebench')).stdout).toMatch(/^extra +solutions\.json: .*, imported$/m)

    const set = await benchmarkTaskSet('livecodebench', { data: root })
    const given = JSON.parse(readFileSync(path, 'utf8'))
    const solved = Object.values(set.splits).flatMap(({ references }) =>
      [...references].map(([id, reference]) => [id, set.scorer.solution!(reference)]),
    )
    expect(Object.fromEntries(solved)).toEqual(
      Object.fromEntries(
        Object.entries<{ correct: string; wrong: string }>(given).map(([id, { correct, wrong }]) => [
          id,
          { answer: correct, wrong: [wrong] },
        ]),
      ),
    )
    expect(solved).toHaveLength(8)
    expect(knownTasks(set)).toHaveLength(8)

    const words = ['show', 'livecodebench', '--split', 'sample', '--limit', '8']
    const seen = [
      ...Object.values(set.splits).map(({ tasks }) => JSON.stringify(tasks)),
      (await data(...words)).stdout,
      (await data(...words, '--json')).stdout,
    ].join('\n')
    // Imports, signatures and other short lines occur in the problems as well.
    const telling = Object.values<{ correct: string; wrong: string }>(given)
      .flatMap(({ correct, wrong }) => [...correct.split('\n'), ...wrong.split('\n')])
      .map((line) => line.trim())
      .filter((line) => line.length > 20 && !/^(def|class|from|import) /.test(line))
    expect(telling.length).toBeGreaterThan(40)
    for (const line of telling) {
      expect(seen).not.toContain(line)
      expect(seen).not.toContain(JSON.stringify(line).slice(1, -1))
    }
  })

  test('solutions in another form are refused with file and field', async () => {
    const root = temporary()
    const path = join(temporary(), 'solutions.json')
    writeFileSync(path, '{"smp001_a": {"correct": ["print(1)"]}}')
    const sample = sharedPath('data', 'livecodebench', 'sample.jsonl')
    const { stderr, code } = await data('import', 'livecodebench', sample, path, '--data-dir', root)
    expect(stderr).toContain(`${path}, field smp001_a.correct: `)
    expect(code).toBe(2)
    expect(readdirSync(root)).toEqual([])
  })

  test('pulls from a mirror and shows the licence; a failing server exits with 1', async () => {
    const root = temporary()
    vi.stubEnv('XDG_CACHE_HOME', temporary())
    const { repository, revision } = humaneval.source
    const { file, path } = humaneval.splits['test']!.files[0]!
    const content = readFileSync(sharedPath('data', ...file.split('/')))
    const server = await serveFiles(new Map([[`/${repository}/${revision}/${path}`, content]]))
    try {
      const words = ['--data-dir', root, '--mirror', server.url, '--json']
      const { stdout, stderr, code } = await data('pull', 'humaneval', ...words)
      expect(code).toBe(0)
      expect(stderr).toContain('Licence: MIT')
      expect(stderr).toContain('downloading humaneval/HumanEval.jsonl.gz, KiB: done, 44/44')
      expect(JSON.parse(stdout)).toMatchObject({
        name: 'humaneval',
        splits: [{ split: 'test', examples: 164 }],
        files: [{ checked: true }],
      })
      const failed = await data('pull', 'gsm8k', ...words)
      expect(failed.code).toBe(1)
      expect(failed.stderr).toMatch(/train\.jsonl: status 404/)
      expect(failed.stderr).not.toContain('    at ')
      // Interrupted during the pause before the second attempt, or just before it.
      server.misdeeds.push({ status: 503 })
      const before = server.requests.length
      const whenAsked = async () => {
        while (server.requests.length === before) await sleep(5)
        process.emit('SIGINT')
      }
      const [interrupted] = await Promise.all([data('pull', 'gsm8k', ...words), whenAsked()])
      expect(interrupted.code).toBe(130)
      expect(interrupted.stderr).toContain('Repeat the command to continue')
    } finally {
      await server.close()
    }
  })
})
