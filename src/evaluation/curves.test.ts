import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { UpdateRecord } from '../training/update-record.ts'
import { crc32c, curvesCsv, writeTensorBoard } from './curves.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-curves-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const count = { calls: 3, input: 100, cachedInput: 0, output: 20 }
function update(number: number, more: object = {}): UpdateRecord {
  return {
    type: 'update',
    at: new Date(Date.UTC(2026, 10, 16, 12, 0, number)).toISOString(),
    update: number,
    query: 'q-1',
    temperature: 1.25,
    loss: { total: -0.5, policy: -0.25, divergence: 0.125, entropy: 2 },
    score: 0.5,
    returns: [[1, 0.5], [0.5]],
    actions: { roles: {}, units: [1, 1], edgeShare: 0 },
    made: count,
    reused: count,
    spent: { cost: 'unpriced' },
    wallMs: 1500,
    ...more,
  } as unknown as UpdateRecord
}

test('crc32c has the check value of RFC 3720', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa)
})

test('CSV curves have one line per update, quoted text, and nothing a spreadsheet would execute', () => {
  const [head, first, second] = curvesCsv([
    update(0, { query: '=SUM(A1), "x"' }),
    update(1, { spent: { cost: { amount: 0.5, currency: 'EUR' } } }),
  ]).split('\n')
  expect(head).toMatch(/^update,at,query,score,return,loss\/total,.*,cost\/spent,seconds$/)
  expect(first).toBe(
    `0,2026-11-16T12:00:00.000Z,"'=SUM(A1), ""x""",0.5,0.75,-0.5,-0.25,0.125,2,1.25,120,120,3,0,,1.5`,
  )
  expect(second).toMatch(/,0\.5,1\.5$/)
})

test('an update without executed graphs has no score, rather than zero', () => {
  const idle = { score: 0, returns: [], actions: { roles: {}, units: [], edgeShare: 0 } }
  const [, line] = curvesCsv([update(0, idle)]).split('\n')
  expect(line).toBe('0,2026-11-16T12:00:00.000Z,q-1,,,-0.5,-0.25,0.125,2,1.25,120,120,3,0,,1.5')
})

/** Reads an event file per the format: records with masked checksums, one message each. */
function readEvents(path: string) {
  const file = readFileSync(path)
  const events: Map<number, unknown[]>[] = []
  for (let at = 0; at < file.length; ) {
    const length = Number(file.readBigUInt64LE(at))
    expect(unmasked(file.readUInt32LE(at + 8))).toBe(crc32c(file.subarray(at, at + 8)))
    const content = file.subarray(at + 12, at + 12 + length)
    expect(unmasked(file.readUInt32LE(at + 12 + length))).toBe(crc32c(content))
    events.push(fields(content))
    at += 16 + length
  }
  return events
}

function unmasked(value: number): number {
  const rotated = (value - 0xa282ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}

function fields(content: Buffer): Map<number, unknown[]> {
  const found = new Map<number, unknown[]>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = content[at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < content.length) {
    const tag = varint()
    const [field, type] = [tag >> 3, tag & 7]
    const length = type === 0 ? 0 : type === 1 ? 8 : type === 5 ? 4 : varint()
    const part = content.subarray(at, at + length)
    at += length
    const value =
      type === 0 ? varint() : type === 1 ? part.readDoubleLE() : type === 5 ? part.readFloatLE() : part
    found.set(field, [...(found.get(field) ?? []), value])
  }
  return found
}

test('a TensorBoard file reads back with every step and value', () => {
  const path = writeTensorBoard(join(work, 'board'), [update(0), update(300, { score: 0.75 })])
  expect(path).toMatch(/events\.out\.tfevents\.1794830400\./)
  const [version, first, last] = readEvents(path)
  expect(String(version!.get(3)![0])).toBe('brain.Event:2')
  expect(first!.get(1)).toEqual([Date.UTC(2026, 10, 16, 12) / 1000])
  expect([first!.get(2), last!.get(2)]).toEqual([[0], [300]])
  const values = (event: Map<number, unknown[]>) =>
    Object.fromEntries(
      fields(event.get(5)![0] as Buffer)
        .get(1)!
        .map((value) => fields(value as Buffer))
        .map((value) => [String(value.get(1)![0]), value.get(2)![0]]),
    )
  expect(values(last!)).toMatchObject({ score: 0.75, 'loss/entropy': 2, 'tokens/made': 120, seconds: 1.5 })
  // No price, no data point.
  expect(values(first!)).not.toHaveProperty('cost/spent')
})
