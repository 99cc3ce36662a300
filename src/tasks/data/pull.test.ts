import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FileServer, serveFiles } from '../../../test/file-server.ts'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import { loadSplit, type Repository } from '../benchmarks/benchmark.ts'
import { type BenchmarkName, benchmarkNames, benchmarks } from '../benchmarks/list.ts'
import { defaultLimits, digestFile } from '../sources/data-file.ts'
import { pullBenchmark } from './pull.ts'
import { extractTables } from './table-archive.ts'

const temporary = () => mkdtempSync(join(tmpdir(), 'pull-'))

const filesOf = (name: BenchmarkName) => Object.values(benchmarks[name].splits).flatMap(({ files }) => files)
const addressOf = ({ repository, revision }: Repository, path: string) => `/${repository}/${revision}/${path}`

/** A tar archive of plain files. */
function tarOf(files: Record<string, string>, type = '0'): Buffer {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const header = Buffer.alloc(512)
    header.write(path, 0)
    header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124)
    header.write(type, 156)
    header.write('ustar\x0000', 257)
    // The sum of all bytes, with its own field counted as spaces.
    header.write(' '.repeat(8), 148)
    const sum = header.reduce((total, byte) => total + byte)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    const padding = Buffer.alloc((512 - (Buffer.byteLength(content) % 512)) % 512)
    return [header, Buffer.from(content), padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

describeShared('pulling from a server with the official paths', () => {
  const data = sharedPath('data')
  const files = new Map<string, Buffer>()
  let server: FileServer

  beforeAll(async () => {
    for (const name of ['gsm8k', 'humaneval', 'tatqa', 'tabfact'] as const)
      for (const { file, path, sha256 } of filesOf(name))
        if (sha256 !== undefined)
          files.set(addressOf(benchmarks[name].source, path!), readFileSync(join(data, file)))
    const { repository, revision } = benchmarks.tabfact.source
    const tables = join(data, 'tabfact/data/all_csv')
    const entries = readdirSync(tables).map((name) => [
      `Table-Fact-Checking-${revision}/data/all_csv/${name}`,
      readFileSync(join(tables, name), 'utf8'),
    ])
    files.set(`/${repository}/tar.gz/${revision}`, tarOf(Object.fromEntries(entries)))
    server = await serveFiles(files)
  })
  afterAll(() => server.close())

  const environment = () => ({ XDG_CACHE_HOME: temporary(), HF_TOKEN: 'hf_canary' })

  test('the pinned digests match the official files', async () => {
    const here = benchmarkNames
      .flatMap(filesOf)
      .filter(({ file, sha256 }) => sha256 !== undefined && existsSync(join(data, file)))
      // The hub publishes this one as Parquet; here it is JSON Lines.
      .filter(({ file }) => file !== 'mmlu_pro/test.jsonl')
    expect(here).toHaveLength(12)
    for (const { file, bytes, sha256 } of here) {
      expect(await digestFile(join(data, file), defaultLimits)).toMatchObject({ bytes, sha256 })
    }
  })

  test('gives checked splits', async () => {
    const root = temporary()
    const seen = new Set<string>()
    const { splits, files: fetched } = await pullBenchmark(root, benchmarks.gsm8k, {
      mirror: `${server.url}/`,
      environment: environment(),
      onProgress: (file) => seen.add(file),
    })
    expect(splits.map(({ split, examples }) => [split, examples])).toEqual([
      ['train', 7473],
      ['test', 1319],
    ])
    expect(fetched.every(({ checked }) => checked)).toBe(true)
    expect([...seen]).toEqual(['gsm8k/train.jsonl', 'gsm8k/test.jsonl'])
    expect((await loadSplit(root, benchmarks.gsm8k, 'test')).tasks.size).toBe(1319)
    expect(server.requests.every(({ authorization }) => authorization === undefined)).toBe(true)
  })

  test('of single splits, TabFact with the tables from the archive', async () => {
    const root = temporary()
    const options = { mirror: server.url, environment: environment(), pauses: [] }
    const { splits } = await pullBenchmark(root, benchmarks.tabfact, { ...options, splits: ['test'] })
    expect(splits).toMatchObject([{ split: 'test', examples: 12779 }])
    expect(readdirSync(join(root, 'tabfact/data/all_csv'))).toHaveLength(521)
    await expect(pullBenchmark(root, benchmarks.tatqa, options)).rejects.toThrow(
      /tatqa_dataset_train\.json: status 404/,
    )
    await pullBenchmark(root, benchmarks.tatqa, { ...options, splits: ['dev', 'test'] })
    expect(readdirSync(join(root, 'tatqa'))).toHaveLength(2)
    await expect(pullBenchmark(root, benchmarks.tatqa, { ...options, splits: ['all'] })).rejects.toThrow(
      /no split 'all'/,
    )
  })

  test('a changed file is not imported', async () => {
    const root = temporary()
    const key = addressOf(benchmarks.humaneval.source, filesOf('humaneval')[0]!.path!)
    const honest = files.get(key)!
    const changed = Buffer.from(honest)
    changed[1000]! ^= 1
    files.set(key, changed)
    const options = { mirror: server.url, environment: environment(), pauses: [] }
    await expect(pullBenchmark(root, benchmarks.humaneval, options)).rejects.toThrow(/has SHA-256/)
    expect(readdirSync(root)).toEqual([])
    files.set(key, honest)
    await pullBenchmark(root, benchmarks.humaneval, options)
    expect((await loadSplit(root, benchmarks.humaneval, 'test')).tasks.size).toBe(164)
  })

  test('offline uses only the hub cache', async () => {
    const cache = temporary()
    const offline = { HF_HUB_CACHE: cache, HF_HUB_OFFLINE: '1', XDG_CACHE_HOME: temporary() }
    const pull = () =>
      pullBenchmark(temporary(), benchmarks.mmlu_pro, { splits: ['test'], environment: offline })
    await expect(pull()).rejects.toThrow(/HF_HUB_OFFLINE/)
    const { repository, revision } = benchmarks.mmlu_pro.source
    const path = filesOf('mmlu_pro')[1]!.path!
    const cached = join(cache, `datasets--${repository.replace('/', '--')}`, 'snapshots', revision, path)
    mkdirSync(dirname(cached), { recursive: true })
    writeFileSync(cached, readFileSync(join(data, 'mmlu_pro/test.jsonl')))
    expect((await pull()).splits).toMatchObject([{ split: 'test', examples: 12032 }])
  })
})

test('an archive writes tables into the folder and nowhere else', async () => {
  const root = temporary()
  const archive = join(root, 'a.tar.gz')
  writeFileSync(
    archive,
    tarOf({
      'r/data/all_csv/1-2.html.csv': 'a#b\n1#2\n',
      'r/data/all_csv/../../evil.csv': 'x',
      '../data/all_csv/evil.csv': 'x',
      '/data/all_csv/evil.csv': 'x',
      'r/README.md': 'x',
    }),
  )
  const folder = join(root, 'out')
  expect(await extractTables(archive, folder)).toBe(2)
  // Only the last part of each path is used.
  expect(readdirSync(folder).sort()).toEqual(['1-2.html.csv', 'evil.csv'])
  expect(readdirSync(root).sort()).toEqual(['a.tar.gz', 'out'])
  writeFileSync(archive, tarOf({ 'r/data/all_csv/link.csv': '' }, '2'))
  await expect(extractTables(archive, folder)).rejects.toThrow(/holds no tables/)
  writeFileSync(archive, tarOf({ 'r/data/all_csv/a.csv': 'x'.repeat(2000) }).subarray(0, 60))
  await expect(extractTables(archive, folder)).rejects.toThrow(/a\.tar\.gz: .*damaged/)
  writeFileSync(archive, tarOf({ 'r/data/all_csv/a.csv': 'x'.repeat(2 ** 22 + 1) }))
  await expect(extractTables(archive, folder)).rejects.toThrow(/has a table of 4194305 bytes/)
  writeFileSync(archive, gzipSync(gzipSync(Buffer.alloc(600, 'z'))))
  await expect(extractTables(archive, folder)).rejects.toThrow(/a\.tar\.gz/)
})
