import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { trainTiny } from '../../test/tiny-training.ts'
import { defaultRunsFolder, findRun, RunError, RunFolder } from './run-folder.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-runs-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const runs = join(work, 'runs')
const trained = join(runs, 'trained')
beforeAll(async () => {
  mkdirSync(runs)
  await trainTiny(trained)
})

describe('names', () => {
  const hostile = [
    ...['', '.', '..', '...', '.hidden', '-flag', '_x', 'a..b', 'a..', '..a', 'a b', 'a\tb', 'a\nb', 'a\n'],
    ...['%2e%2e', '%2e%2e%2fetc', '%252e%252e', '..%2f', '..\\..\\etc', 'a\\b', 'C:', 'C:\\x', 'CON', 'Run'],
    ...[
      'a\u0000b',
      '\u0000',
      'run\u0000.json',
      'ä',
      '．．',
      '\u202erun',
      '\u2025',
      'run\u200b',
      '~',
      '~root',
    ],
    ...['$HOME', '`id`', '$(id)', 'a;b', 'a|b', 'a&b', 'a*', 'a?', "a'b", 'a"b', '<script>', '{a}'],
    ...['x'.repeat(65), 'x'.repeat(300), '__proto__', 'a:b', 'a,b', '#', '@', '+a'],
  ]

  test.each(hostile)('%j is refused', (name) => {
    expect(() => findRun(name, runs)).toThrow(RunError)
    expect(() => findRun(name, runs)).toThrow(/is not a valid run name: use 1 to 64 lower-case letters/)
  })

  test.each(['a', '0', 'gsm8k-42', 'a.b_c-d', 'x'.repeat(64), 'constructor'])('%j is accepted', (name) => {
    expect(findRun(name, runs).path).toBe(join(runs, name))
  })

  test('a name never leads out of the runs folder through a link; links within it are followed', () => {
    const outside = join(work, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, join(runs, 'link-out'))
    symlinkSync('/', join(runs, 'link-root'))
    symlinkSync(join(work, 'not-there-yet'), join(runs, 'link-dangling'))
    symlinkSync(trained, join(runs, 'link-in'))
    for (const name of ['link-out', 'link-root', 'link-dangling'])
      expect(() => findRun(name, runs)).toThrow(/leads outside the runs folder/)
    expect(findRun('link-in', runs).exists).toBe(true)
  })

  test.each(['../../etc', './x', '/etc/passwd', 'a/\u0000'])('%j is a path, not a run', (path) => {
    const folder = findRun(path, runs)
    expect(folder.exists).toBe(false)
    expect(() => folder.readRecord()).toThrow(RunError)
  })

  test('the environment sets the runs folder', () => {
    expect(defaultRunsFolder({})).toBe('runs')
    expect(defaultRunsFolder({ MAGIC_RUNS_DIR: '/somewhere' })).toBe('/somewhere')
  })
})

describe('run.json', () => {
  const copy = (name: string) => {
    const path = join(work, name)
    cpSync(trained, path, { recursive: true })
    return path
  }

  test('that is missing, truncated or changed is refused by its path', () => {
    const text = readFileSync(join(trained, 'run.json'), 'utf8')
    const path = copy('damaged-record')
    const file = join(path, 'run.json')
    const run = new RunFolder(path)
    for (let length = 0; length < text.length - 2; length += 97) {
      writeFileSync(file, text.slice(0, length))
      expect(() => run.readRecord()).toThrow(`${file} cannot be read`)
    }
    for (const [from, to] of [
      ['magic-run-1', 'magic-run-9'],
      ['"updates": 3', '"updates": -3'],
      ['"hidden": 8', '"hidden": "8"'],
      ['"concurrency": 8', '"concurrency": 0'],
    ] as const) {
      writeFileSync(file, text.replaceAll(from, to))
      expect(() => run.readRecord()).toThrow(`${file} is damaged or of another version`)
    }
    rmSync(file)
    expect(() => run.readRecord()).toThrow(`${path} is not a run: it has no run.json.`)
  })

  test('a library changed afterwards is refused', () => {
    const path = copy('changed-library')
    const run = new RunFolder(path)
    const text = readFileSync(run.libraryFile, 'utf8')
    writeFileSync(
      run.libraryFile,
      text.replace(/(prompt|description|instruction\w*): (\S)/, '$1: Changed $2'),
    )
    expect(() => run.readLibrary(run.readRecord())).toThrow(/library.yaml/)
    rmSync(run.libraryFile)
    expect(() => run.readLibrary(run.readRecord())).toThrow(/library.yaml: there is no such file/)
  })
})

describe('checkpoints', () => {
  const names = ['policy.safetensors', 'optimizer.safetensors', 'state.json']

  test.each(names)('a truncated %s is refused by name, and the previous one offered', (name) => {
    const path = join(work, `cut-${name}`)
    cpSync(trained, path, { recursive: true })
    const run = new RunFolder(path)
    const file = join(run.checkpointPath(3), name)
    const size = statSync(file).size
    const lengths = Array.from({ length: Math.ceil(size / 4096) }, (_, step) => step * 4096).reverse()
    for (const length of lengths) {
      truncateSync(file, length)
      expect(() => run.readCheckpoint({})).toThrow(
        /update-000003 cannot be used.*There is one of update 2: resume with --from-update 2/s,
      )
    }
    expect(run.readCheckpoint({}, 2)!.update).toBe(2)
  })

  test.each(names)('%s with one flipped byte is refused', (name) => {
    const path = join(work, `flip-${name}`)
    cpSync(trained, path, { recursive: true })
    const run = new RunFolder(path)
    const file = join(run.checkpointPath(3), name)
    const bytes = readFileSync(file)
    for (const part of [0.01, 0.3, 0.5, 0.7, 0.99]) {
      const place = Math.floor(part * bytes.length)
      bytes[place]! ^= 1
      writeFileSync(file, bytes)
      bytes[place]! ^= 1
      expect(() => run.readCheckpoint({})).toThrow(/update-000003 cannot be used/)
    }
    writeFileSync(file, bytes)
    expect(run.readCheckpoint({})!.update).toBe(3)
  })

  test('a damaged only checkpoint is reported as the only one', () => {
    const path = join(work, 'only')
    cpSync(trained, path, { recursive: true })
    const run = new RunFolder(path)
    rmSync(run.checkpointPath(2), { recursive: true })
    truncateSync(join(run.checkpointPath(3), 'policy.safetensors'), 8)
    expect(() => run.readCheckpoint({})).toThrow(/There is no earlier one: delete it to start over/)
  })

  test('leftovers of a kill while writing or removing one are recognised', () => {
    const path = join(work, 'leftovers')
    const run = new RunFolder(path)
    for (const name of [
      'update-000007',
      '.update-000007.unfinished',
      '.update-000008.replaced',
      '.update-000005.removed',
      'update-1234567',
      'notes',
    ])
      mkdirSync(join(path, 'checkpoints', name), { recursive: true })
    expect(run.checkpoints()).toEqual([7, 8, 1234567])
    run.removeCheckpointsAfter(7)
    expect(run.checkpoints()).toEqual([7])
  })
})
