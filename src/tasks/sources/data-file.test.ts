import { createHash } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultLimits, type FileLimits, readFileLines, readText } from './data-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'data-file-'))

function fileOf(content: string | Buffer, name = 'data.jsonl'): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function linesOf(path: string, limits: FileLimits = defaultLimits): Promise<[number, string][]> {
  const lines: [number, string][] = []
  await readFileLines(path, limits, (line, number) => lines.push([number, line]))
  return lines
}

test('lines keep their numbers, and blank ones are skipped', async () => {
  const path = fileOf('one\r\n\n  \ntwo\u2028two\nthree')
  expect(await linesOf(path)).toEqual([
    [1, 'one\r'],
    [4, 'two\u2028two'],
    [5, 'three'],
  ])
})

test('a gzip file gives the same lines, and the digest of the file itself', async () => {
  const zipped = gzipSync('a\nb\n')
  const path = fileOf(zipped, 'data.gz')
  const lines: string[] = []
  const file = await readFileLines(path, defaultLimits, (line) => lines.push(line))
  expect(lines).toEqual(['a', 'b'])
  expect(file).toEqual({
    path,
    bytes: zipped.length,
    sha256: createHash('sha256').update(zipped).digest('hex'),
  })
})

test('lines stay whole across chunk boundaries', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 40 })),
      fc.integer({ min: 1, max: 3 }),
      async (texts, repeat) => {
        // Larger than a chunk, with multi-byte characters at its edge.
        const filler = 'é'.repeat(300_000 * repeat)
        const wanted = [filler, ...texts.map((text) => text.replaceAll('\n', ' ')), filler].filter(
          (l) => l.trim() !== '',
        )
        expect((await linesOf(fileOf(wanted.join('\n')))).map(([, line]) => line)).toEqual(wanted)
      },
    ),
    { numRuns: 10 },
  )
})

test('limits: line length, lines, bytes on disk, expanded bytes, ratio, document', async () => {
  const small = { ...defaultLimits, lineBytes: 100, rows: 3, documentBytes: 50 }
  await expect(linesOf(fileOf(`ok\n${'x'.repeat(101)}`), small)).rejects.toThrow(
    /row 2: is longer than 100 bytes/,
  )
  await expect(linesOf(fileOf('a\nb\nc\nd\n'), small)).rejects.toThrow(/more than 3 lines/)
  await expect(linesOf(fileOf('abcdef'), { ...small, fileBytes: 5 })).rejects.toThrow(/has 6 bytes/)
  await expect(linesOf(fileOf('abcdef'), { ...small, expandedBytes: 5 })).rejects.toThrow(
    /expands to more than 5/,
  )
  await expect(readText(fileOf('x'.repeat(51)), small)).rejects.toThrow(/more than 50 bytes/)
  const bomb = gzipSync(Buffer.alloc(2 ** 25, 'x'))
  await expect(linesOf(fileOf(bomb), { ...defaultLimits, lineBytes: 2 ** 30 })).rejects.toThrow(
    /more than 200 times/,
  )
})

test('damage names the file', async () => {
  const zipped = gzipSync('a\n'.repeat(1000))
  const truncated = fileOf(zipped.subarray(0, zipped.length - 12))
  await expect(linesOf(truncated)).rejects.toThrow(/data\.jsonl: cannot be read .*truncated/)
  await expect(linesOf(join(folder, 'none.jsonl'))).rejects.toThrow(/none\.jsonl: there is no such file/)
  await expect(linesOf(folder)).rejects.toThrow(/is not a regular file/)
  await expect(linesOf(fileOf(Buffer.from([0x61, 0x0a, 0xff])))).rejects.toThrow(/row 2: is not UTF-8/)
  await expect(linesOf(fileOf('PAR1....'))).rejects.toThrow(/Parquet/)
})
