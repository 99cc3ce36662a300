import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { type CompressionCodec, parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readFiles } from '../../../../test/read-benchmark.ts'
import { describeShared, sharedPath } from '../../../../test/shared.ts'
import { gsm8k } from '../../benchmarks/gsm8k.ts'
import { mmluPro } from '../../benchmarks/mmlu-pro.ts'
import { DataError } from '../data-error.ts'
import { defaultLimits, type FileLimits as Limits } from '../data-file.ts'
import { readRecords } from '../records.ts'
import { readParquet } from './read-parquet.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquet-'))

function fileOf(bytes: ArrayBuffer | Uint8Array, name = 'table.parquet'): string {
  const path = join(folder, name)
  writeFileSync(path, new Uint8Array(bytes))
  return path
}

async function rowsOf(path: string, limits: Limits = defaultLimits): Promise<unknown[]> {
  const rows: unknown[] = []
  await readParquet(path, limits, (row, index) => {
    expect(index).toBe(rows.length)
    rows.push(row)
  })
  return rows
}

/** The columns of MMLU-Pro as in the hub's file: a list of strings among plain ones. */
const mmluSchema = [
  { name: 'schema', num_children: 6 },
  { name: 'question_id', type: 'INT64', repetition_type: 'OPTIONAL' },
  { name: 'question', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  { name: 'options', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  { name: 'answer_index', type: 'INT64', repetition_type: 'OPTIONAL' },
  { name: 'category', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  { name: 'src', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
] as const

interface MmluRow {
  question_id: number
  question: string
  options: string[]
  answer_index: number
  category: string
  src: string
}

function mmluParquet(
  rows: readonly MmluRow[],
  options: { codec?: CompressionCodec; rowGroupSize?: number } = {},
) {
  const data = (pick: (row: MmluRow) => unknown) => rows.map(pick)
  return parquetWriteBuffer({
    schema: [...mmluSchema],
    columnData: [
      { name: 'question_id', data: data((row) => BigInt(row.question_id)) },
      { name: 'question', data: data((row) => row.question) },
      { name: 'options', data: data((row) => row.options) },
      { name: 'answer_index', data: data((row) => BigInt(row.answer_index)) },
      { name: 'category', data: data((row) => row.category) },
      { name: 'src', data: data((row) => row.src) },
    ],
    compressors: {
      GZIP: (bytes) => gzipSync(bytes),
      ZSTD: (bytes) => zstdCompressSync(bytes),
      BROTLI: (bytes) => brotliCompressSync(bytes),
    },
    pageSize: 500,
    ...options,
  })
}

const mmluRows = fc.array(
  fc.record({
    question_id: fc.nat(),
    question: fc.string({ unit: 'grapheme' }),
    options: fc.array(fc.string(), { maxLength: 10 }),
    answer_index: fc.nat({ max: 9 }),
    category: fc.constantFrom('law', 'physics', 'other'),
    src: fc.string(),
  }),
  { minLength: 1, maxLength: 60 },
)

const codecs = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'BROTLI'] as const

describe('a Parquet file', () => {
  test('gives the rows of its JSON Lines twin for any compression, groups and pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        mmluRows,
        fc.constantFrom(...codecs),
        fc.integer({ min: 1, max: 70 }),
        async (rows, codec, rowGroupSize) => {
          const path = fileOf(mmluParquet(rows, { codec, rowGroupSize }))
          expect(await rowsOf(path)).toEqual(rows)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('gives null for missing values, text for timestamps, and Booleans and numbers as they are', async () => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'text', data: ['a', null, 'c'], type: 'STRING', nullable: true },
        { name: 'flag', data: [true, false, true], type: 'BOOLEAN' },
        { name: 'number', data: [0.5, -1, 2], type: 'DOUBLE' },
        { name: 'at', data: [new Date(0), new Date(1000), new Date(2000)], type: 'TIMESTAMP' },
        { name: 'large', data: [1n, 2n ** 60n, -3n], type: 'INT64' },
      ],
    })
    expect(await rowsOf(fileOf(buffer))).toEqual([
      { text: 'a', flag: true, number: 0.5, at: '1970-01-01T00:00:00.000Z', large: 1 },
      { text: null, flag: false, number: -1, at: '1970-01-01T00:00:01.000Z', large: 2n ** 60n },
      { text: 'c', flag: true, number: 2, at: '1970-01-01T00:00:02.000Z', large: -3 },
    ])
  })

  test('may have version 1 data pages, like the official files', async () => {
    const rows = ['one', 'two', 'three'].map((question, index) => ({
      ...{ question_id: index, question, options: ['x', 'y'].slice(index % 2), answer_index: 0 },
      ...{ category: 'c', src: 's' },
    }))
    // Two texts, then one: repetition levels of one bit, definition levels of two, each preceded by its
    // length.
    const repetition = [0, 1, 0, 0, 1]
    const values = rows.flatMap(({ options }) => options.map((text) => Buffer.from(text)))
    const page = new ByteWriter()
    for (const [levels, width] of [
      [repetition, 1],
      [repetition.map(() => 3), 2],
    ] as const) {
      const runs = new ByteWriter()
      writeRleBitPackedHybrid(runs, levels, width)
      page.appendUint32(runs.offset)
      page.appendBytes(runs.getBytes())
    }
    writePlain(page, values, 'BYTE_ARRAY', undefined)
    const v2 = mmluParquet(rows, { codec: 'UNCOMPRESSED' })
    const metadata = parquetMetadata(v2)
    const file = new ByteWriter()
    file.appendBytes(new Uint8Array(v2, 0, v2.byteLength - 8 - metadata.metadata_length))
    const start = file.offset
    const header = { num_values: 5, encoding: 'PLAIN', definition_level_encoding: 'RLE' } as const
    writePageHeader(file, {
      type: 'DATA_PAGE',
      uncompressed_page_size: page.offset,
      compressed_page_size: page.offset,
      data_page_header: { ...header, repetition_level_encoding: 'RLE' },
    })
    file.appendBytes(page.getBytes())
    const column = metadata.row_groups[0]!.columns[2]!.meta_data!
    Object.assign(column, { data_page_offset: BigInt(start), dictionary_page_offset: undefined })
    column.total_compressed_size = BigInt(file.offset - start)
    writeMetadata(file, metadata)
    file.appendUint32(0x31524150)
    expect(await rowsOf(fileOf(file.getBytes()))).toEqual(rows)
    // The same with a run longer than the page.
    const bytes = file.getBytes()
    const at = Buffer.from(bytes).indexOf(Buffer.from(page.getBytes().subarray(0, 8)))
    bytes[at + 4] = 0xfe
    await expect(rowsOf(fileOf(bytes))).rejects.toThrow(/a run of \d+ values where|ends within a run/)
  })

  test('that does not match is refused by row and field', async () => {
    const row = { question_id: 1, question: '?', options: ['x'], answer_index: 3, category: 'c', src: 's' }
    const path = fileOf(
      mmluParquet([
        { ...row, answer_index: 0 },
        { ...row, question_id: 2 },
      ]),
    )
    await expect(readFiles(mmluPro, path)).rejects.toThrow(/table\.parquet, row 2, field answer_index/)
    const foreign = parquetWriteBuffer({ columnData: [{ name: 'text', data: ['a'], type: 'STRING' }] })
    await expect(readFiles(mmluPro, fileOf(foreign))).rejects.toThrow(/row 1, field question_id/)
  })
})

describeShared('the official tables as Parquet', () => {
  test('MMLU-Pro', async () => {
    const twin = sharedPath('data', 'mmlu_pro', 'test.jsonl')
    const rows: MmluRow[] = []
    await readRecords(twin, z.custom<MmluRow>(), (row) => rows.push(row))
    const split = await readFiles(mmluPro, fileOf(mmluParquet(rows, { rowGroupSize: 5000 })))
    const expected = await readFiles(mmluPro, twin)
    expect(split.ids).toEqual(expected.ids)
    expect(split.tasks).toEqual(expected.tasks)
    expect(split.references).toEqual(expected.references)
  })

  test('GSM8K', async () => {
    const twin = sharedPath('data', 'gsm8k', 'test.jsonl')
    const rows: { question: string; answer: string }[] = []
    await readRecords(twin, z.custom<(typeof rows)[number]>(), (row) => rows.push(row))
    const columnData = (['question', 'answer'] as const).map((name) => ({
      name,
      data: rows.map((row) => row[name]),
      type: 'STRING' as const,
    }))
    const split = await readFiles(gsm8k, fileOf(parquetWriteBuffer({ columnData })))
    const expected = await readFiles(gsm8k, twin)
    expect([...split.tasks]).toEqual([...expected.tasks])
    expect([...split.references]).toEqual([...expected.references])
  })
})

describe('a damaged or hostile Parquet file', () => {
  const small = new Uint8Array(
    mmluParquet(
      Array.from({ length: 30 }, (_, index) => ({
        question_id: index,
        question: `Question ${index}`,
        options: ['yes', 'no', 'maybe'].slice(0, index % 4),
        answer_index: 0,
        category: index % 2 === 0 ? 'law' : 'other',
        src: 'here',
      })),
      { codec: 'UNCOMPRESSED', rowGroupSize: 20 },
    ),
  )

  test('gives a message that names it, wherever it is hit', async () => {
    const before = process.memoryUsage().rss
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: small.length - 1 }), fc.nat({ max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (hits) => {
          const bytes = small.slice()
          for (const [at, byte] of hits) bytes[at] = byte
          try {
            await readParquet(fileOf(bytes, 'hit.parquet'), defaultLimits, () => {})
          } catch (error) {
            expect(error).toBeInstanceOf(DataError)
            expect((error as Error).message).toContain('hit.parquet')
          }
        },
      ),
      { numRuns: 3000 },
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20)
  })

  test('is truncated', async () => {
    for (let length = 4; length < small.length; length += 97)
      await expect(rowsOf(fileOf(small.slice(0, length)))).rejects.toThrow(/table\.parquet: cannot be read/)
  })

  test('claims more rows than it has', async () => {
    await expect(rowsOf(fileOf(small), { ...defaultLimits, rows: 29 })).rejects.toThrow(/more than 29 rows/)
    await expect(rowsOf(fileOf(small), { ...defaultLimits, expandedBytes: 100 })).rejects.toThrow(/expands/)
  })

  test('has a page that expands beyond its header, or implausibly far', async () => {
    const data = [Array.from({ length: 40 }, () => 'x'.repeat(2 ** 20)).join('')]
    const bomb = (codec: 'GZIP' | 'ZSTD' | 'BROTLI') =>
      fileOf(
        parquetWriteBuffer({
          columnData: [{ name: 'text', data, type: 'STRING' }],
          codec,
          statistics: false,
          compressors: { GZIP: gzipSync, ZSTD: zstdCompressSync, BROTLI: brotliCompressSync },
        }),
      )
    for (const codec of ['GZIP', 'ZSTD', 'BROTLI'] as const)
      await expect(rowsOf(bomb(codec))).rejects.toThrow(/expands to more/)
    // The header's length differs from the stream's.
    const lying = parquetWriteBuffer({
      columnData: [{ name: 'text', data: ['abc'], type: 'STRING' }],
      codec: 'ZSTD',
      compressors: { ZSTD: () => zstdCompressSync(Buffer.alloc(2 ** 26)) },
    })
    await expect(rowsOf(fileOf(lying))).rejects.toThrow(/cannot be read as Parquet/)
  })

  test('repeats one value in implausibly many rows for its size', async () => {
    const column = (name: string, length: number) => ({
      ...{ name, data: Array.from({ length }, () => 'x'), type: 'STRING' as const },
    })
    const tall = parquetWriteBuffer({ columnData: [column('text', 300_000)], rowGroupSize: 9_000 })
    expect(tall.byteLength).toBeLessThan(20_000)
    await expect(rowsOf(fileOf(tall))).rejects.toThrow(/it has \d+ rows or more in \d+ bytes/)
    const names = Array.from({ length: 90 }, (_, index) => `c${index}`)
    const wide = parquetWriteBuffer({ columnData: names.map((name) => column(name, 9_900)) })
    expect(wide.byteLength).toBeLessThan(30_000)
    await expect(rowsOf(fileOf(wide))).rejects.toThrow(/it has \d+ values or more in \d+ bytes/)
  })

  test('repeats one list value implausibly often for its size', async () => {
    const row = { question_id: 1, question: '?', answer_index: 0, category: 'c', src: 's' }
    const options = Array.from({ length: 700_000 }, () => 'x')
    const long = mmluParquet([{ ...row, options }], { codec: 'ZSTD' })
    await expect(rowsOf(fileOf(long))).rejects.toThrow(/values or more|expands to more/)
  })

  test('has one long text for all rows', async () => {
    const data = Array.from({ length: 2_000 }, () => 'a long text '.repeat(10_000))
    const bytes = parquetWriteBuffer({
      columnData: [{ name: 'text', data, type: 'STRING', encoding: 'RLE_DICTIONARY' }],
      codec: 'ZSTD',
      statistics: false,
      compressors: { ZSTD: zstdCompressSync },
    })
    expect(bytes.byteLength).toBeLessThan(20_000)
    await expect(rowsOf(fileOf(bytes))).rejects.toThrow(
      /texts of its rows expand to more than an honest file/,
    )
  })

  test('has a run longer than the page', async () => {
    const data = Array.from({ length: 1000 }, () => 'same')
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: [{ name: 'text', data, type: 'STRING', encoding: 'RLE_DICTIONARY', nullable: true }],
        codec: 'UNCOMPRESSED',
        statistics: false,
      }),
    )
    // A run of 1,000 equal values is written as the varint 2,000, and so are some counts: change each to
    // 16,336.
    const problems: string[] = []
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] !== 0xd0 || bytes[at + 1] !== 0x0f) continue
      const hostile = bytes.slice()
      hostile[at + 1] = 0x7f
      await rowsOf(fileOf(hostile)).catch((error: Error) => problems.push(error.message))
    }
    expect(problems.join('\n')).toMatch(/a run of 8168 values where 1000 are left/)
  })
})
