import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import { loadSplit } from '../benchmarks/benchmark.ts'
import { type BenchmarkName, benchmarks } from '../benchmarks/list.ts'
import { recogniseFiles } from './given-files.ts'
import { importFiles } from './import-files.ts'

const temporary = () => mkdtempSync(join(tmpdir(), 'import-'))

function importPaths(root: string, benchmark: BenchmarkName, paths: readonly string[], split?: string) {
  return importFiles(root, benchmarks[benchmark], recogniseFiles(benchmarks[benchmark], paths, split))
}

/** Every file in a folder with its bytes. */
function contents(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(root.length + 1), readFileSync(path, 'latin1')]
    }),
  )
}

const rows = (count: number, answer = '#### 1') =>
  Array.from({ length: count }, (_, index) => ({ question: `Question ${index}?`, answer }))
const jsonLines = (records: readonly object[]) => records.map((row) => `${JSON.stringify(row)}\n`).join('')

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(temporary(), name)
  writeFileSync(path, content)
  return path
}

describe("a user's files", () => {
  test('are recognised by name, by the name of a hub shard, or by the given split', async () => {
    const root = temporary()
    const [plain] = await importPaths(root, 'gsm8k', [fileOf('test.jsonl', jsonLines(rows(1319)))])
    expect(plain).toMatchObject({ split: 'test', examples: 1319, withTask: 1319 })
    expect(Object.keys(contents(root))).toEqual(['gsm8k/test.jsonl'])

    const columnData = (['question', 'answer'] as const).map((name) => ({
      name,
      data: rows(1319, '#### 2').map((row) => row[name]),
      type: 'STRING' as const,
    }))
    const shard = fileOf('test-00000-of-00001.parquet', new Uint8Array(parquetWriteBuffer({ columnData })))
    await importPaths(root, 'gsm8k', [shard])
    // The newer file, in another format, replaces the older.
    expect(Object.keys(contents(root))).toEqual(['gsm8k/test.parquet'])
    const { references } = await loadSplit(root, benchmarks.gsm8k, 'test')
    expect(references.get('test-0')).toEqual({ kind: 'number-text', text: '2' })

    const nameless = fileOf('my-download', jsonLines(rows(1319, '#### 3')))
    expect(() => recogniseFiles(benchmarks.gsm8k, [nameless])).toThrow(/my-download: does not have .*--split/)
    await importPaths(root, 'gsm8k', [nameless], 'test')
    expect((await loadSplit(root, benchmarks.gsm8k, 'test')).references.get('test-0')).toMatchObject({
      text: '3',
    })
  })

  test('are refused as a whole: the folder is unchanged, and the message names the given file', async () => {
    const root = temporary()
    await importPaths(root, 'gsm8k', [fileOf('test.jsonl', jsonLines(rows(1319)))])
    const before = contents(root)
    const good = fileOf('train.jsonl', jsonLines(rows(7473)))
    const broken = [
      [jsonLines(rows(1000)), /test\.jsonl: 1000 examples, but the split 'test' of gsm8k has 1319/],
      [jsonLines([...rows(700), { question: 'Why?' }]), /test\.jsonl, row 701, field answer/],
      [jsonLines(rows(1319, 'one')), /test\.jsonl, row 1, field answer: has no '####'/],
      [jsonLines(rows(1319)).slice(0, -20), /test\.jsonl, row 1319: is not valid JSON/],
      ['PAR1 nonsense', /test\.jsonl: cannot be read as Parquet/],
      ['', /test\.jsonl: 0 examples/],
    ] as const
    for (const [content, problem] of broken) {
      const path = fileOf('test.jsonl', content)
      await expect(importPaths(root, 'gsm8k', [good, path])).rejects.toThrow(problem)
      await expect(importPaths(root, 'gsm8k', [good, path])).rejects.toThrow(path)
      expect(contents(root)).toEqual(before)
      expect(readdirSync(root)).toEqual(['gsm8k'])
    }
  })

  test('in several parts are merged, and no file is used twice', async () => {
    const root = temporary()
    const part = fileOf('test.jsonl', '')
    await expect(importPaths(root, 'livecodebench', [part])).rejects.toThrow(
      /train.*needs test2\.jsonl, test3\.jsonl, test4\.jsonl, test5\.jsonl too/,
    )
    expect(() =>
      recogniseFiles(benchmarks.gsm8k, [fileOf('test.jsonl', ''), fileOf('test.jsonl', '')]),
    ).toThrow(/and so is/)
    expect(() => recogniseFiles(benchmarks.gsm8k, [join(root, 'none')])).toThrow(/no such file/)
    expect(() => recogniseFiles(benchmarks.gsm8k, [root])).toThrow(/has no file of gsm8k/)
    expect(() => recogniseFiles(benchmarks.gsm8k, ['/dev/zero'], 'test')).toThrow(/is not a regular file/)
    expect(() => recogniseFiles(benchmarks.gsm8k, [part], 'dev')).toThrow(/no split 'dev'/)
    await expect(importPaths(root, 'tabfact', [fileOf('test_examples.json', '{}')])).rejects.toThrow(
      /statements without tables/,
    )
  })

  test('leftovers of a killed import are removed by the next', async () => {
    const root = temporary()
    mkdirSync(join(root, '.importing-a'))
    utimesSync(join(root, '.importing-a'), 0, 0)
    await importPaths(root, 'gsm8k', [fileOf('test.jsonl', jsonLines(rows(1319)))])
    expect(readdirSync(root)).toEqual(['gsm8k'])
  })
})

describe('a companion file', () => {
  const problems = jsonLines(
    Array.from({ length: 8 }, (_, index) => ({
      question_title: 'Title',
      question_content: 'Content',
      platform: 'leetcode',
      question_id: `90${index}`,
      contest_id: 'c',
      contest_date: '2025-01-01',
      starter_code: '',
      difficulty: 'easy',
      public_test_cases: '[]',
      private_test_cases: '[]',
      metadata: '{}',
    })),
  )
  const solved = (program: string) => JSON.stringify({ 900: { correct: program } })
  const sampleFile = () => fileOf('sample.jsonl', problems)
  const solutionOf900 = async (root: string) => {
    const reference = (await loadSplit(root, benchmarks.livecodebench, 'sample')).references.get('900')
    return reference?.kind === 'livecodebench' ? reference.solution : undefined
  }

  test('comes from a folder, a data folder, or as a separate file', async () => {
    const sample = sampleFile()
    const folder = join(sample, '..')
    writeFileSync(join(folder, 'solutions.json'), solved('first'))
    const root = temporary()
    const [imported] = await importPaths(root, 'livecodebench', [folder])
    const own = (name: string) => join(root, 'livecodebench', name)
    expect(imported!.files.map(({ path }) => path)).toEqual([own('sample.jsonl'), own('solutions.json')])
    expect(contents(root)).toEqual({
      'livecodebench/sample.jsonl': problems,
      'livecodebench/solutions.json': solved('first'),
    })
    expect(await solutionOf900(root)).toEqual({ program: 'first' })

    const other = temporary()
    await importPaths(other, 'livecodebench', [root], 'sample')
    expect(contents(other)).toEqual(contents(root))
    // Importing a split without one keeps the existing one.
    await importPaths(other, 'livecodebench', [sample])
    expect(await solutionOf900(other)).toEqual({ program: 'first' })

    const [again] = await importPaths(root, 'livecodebench', [fileOf('solutions.json', solved('second'))])
    expect(again).toMatchObject({ split: 'sample', examples: 8, withTask: 8 })
    expect(await solutionOf900(root)).toEqual({ program: 'second' })
    await importPaths(root, 'livecodebench', [fileOf('solutions.json.gz', gzipSync(solved('third')))])
    expect(await solutionOf900(root)).toEqual({ program: 'third' })
    expect(Object.keys(contents(root)).sort()).toEqual(Object.keys(contents(other)).sort())
  })

  test('is refused with file and field, and the whole import with it', async () => {
    const root = temporary()
    await importPaths(root, 'livecodebench', [sampleFile(), fileOf('solutions.json', solved('good'))])
    const before = contents(root)
    const broken = [
      ['{"900": {"correct": 1}}', /solutions\.json, field .*900.*\.correct: .*expected string/],
      ['{"900": {"correct": ""}}', /solutions\.json, field .*900.*\.correct: /],
      ['{"900": {"correct": "x", "wrong": ["y"]}}', /solutions\.json, field .*900.*\.wrong: /],
      ['{"900": "x"}', /solutions\.json, field .*900.*: .*expected object/],
      ['[]', /solutions\.json: .*expected record/],
      [solved('x').slice(0, -1), /solutions\.json: is not valid JSON/],
      [Buffer.from([0x22, 0xff, 0x22]), /solutions\.json: is not UTF-8/],
      [gzipSync(Buffer.alloc(2 ** 26, 32)), /solutions\.json: expands to more than 200 times/],
      ['PAR1 nonsense', /solutions\.json: is a Parquet file/],
    ] as const
    for (const [content, problem] of broken) {
      const path = fileOf('solutions.json', content)
      for (const paths of [[path], [sampleFile(), path]])
        await expect(importPaths(root, 'livecodebench', paths)).rejects.toMatchObject({
          name: 'DataError',
          file: path,
          message: expect.stringMatching(problem),
        })
      expect(contents(root)).toEqual(before)
    }
    // One placed there by hand is read too.
    writeFileSync(join(root, 'livecodebench/solutions.json'), '[]')
    await expect(importPaths(root, 'livecodebench', [sampleFile()])).rejects.toThrow(
      `${join(root, 'livecodebench/solutions.json')}: `,
    )
  })

  test('needs a split, belongs to its benchmark only, and is given once', async () => {
    const root = temporary()
    const path = fileOf('solutions.json', solved('x'))
    await expect(importPaths(root, 'livecodebench', [path])).rejects.toThrow(
      /solutions\.json: goes with the files of a split of livecodebench, and none is here/,
    )
    expect(existsSync(join(root, 'livecodebench'))).toBe(false)
    expect(() => recogniseFiles(benchmarks.livecodebench, [join(path, '..')], 'sample')).toThrow(
      /has no file of livecodebench; looked for sample\.jsonl\.$/,
    )
    expect(() => recogniseFiles(benchmarks.livecodebench, [path], 'dev')).toThrow(/no split 'dev'/)
    expect(() => recogniseFiles(benchmarks.humaneval, [path])).toThrow(
      /does not have the name of a file of humaneval/,
    )
    expect(() => recogniseFiles(benchmarks.livecodebench, [path, fileOf('solutions.json', '{}')])).toThrow(
      /and so is/,
    )
  })

  test('replaces only the older one', async () => {
    const root = temporary()
    await importPaths(root, 'livecodebench', [sampleFile()])
    writeFileSync(join(root, 'livecodebench/solutions.jsonl'), 'notes')
    await importPaths(root, 'livecodebench', [fileOf('solutions.json', solved('x'))])
    expect(contents(root)['livecodebench/solutions.jsonl']).toBe('notes')
  })
})

describeShared('the shared data', () => {
  const data = sharedPath('data')

  test.each(Object.keys(benchmarks) as BenchmarkName[])('%s is imported from a folder', async (benchmark) => {
    const root = temporary()
    const imported = await importPaths(root, benchmark, [data])
    expect(imported.length).toBeGreaterThan(0)
    for (const { split, examples, withTask } of imported) {
      const { ids, tasks } = await loadSplit(root, benchmarks[benchmark], split)
      expect([ids.length, tasks.size]).toEqual([examples, withTask])
    }
    // The benchmark's own folder, such as a clone of its repository, gives the same result.
    const again = temporary()
    await importPaths(again, benchmark, [join(data, benchmark)])
    expect(contents(again)).toEqual(contents(root))
  })

  test('HumanEval is also accepted unpacked', async () => {
    const root = temporary()
    const unpacked = gunzipSync(readFileSync(join(data, 'humaneval/HumanEval.jsonl.gz')))
    await importPaths(root, 'humaneval', [fileOf('HumanEval.jsonl', unpacked)])
    expect((await loadSplit(root, benchmarks.humaneval, 'test')).tasks.size).toBe(164)
    expect(existsSync(join(root, 'humaneval/HumanEval.jsonl'))).toBe(true)
  })

  test('tables imported later complete the statements', async () => {
    const root = temporary()
    const tables = join(data, 'tabfact/data/all_csv')
    const few = join(temporary(), 'all_csv')
    mkdirSync(few)
    for (const name of readdirSync(tables).slice(0, 100))
      cpSync(join(tables, name), join(few, basename(name)))
    const statements = join(data, 'tabfact/tokenized_data/test_examples.json')
    await importPaths(root, 'tabfact', [statements, few])
    const before = (await loadSplit(root, benchmarks.tabfact, 'test')).tasks.size
    await importPaths(root, 'tabfact', [tables])
    expect((await loadSplit(root, benchmarks.tabfact, 'test')).tasks.size).toBeGreaterThan(before)
    expect(readdirSync(join(root, 'tabfact/data/all_csv'))).toHaveLength(521)
  })
})
