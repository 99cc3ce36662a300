import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { UpdateRecord } from '../training/update-record.ts'
import { ranGraphs } from './run-overview.ts'
import { meanOf } from './statistics.ts'

/** The curves of a training, by the names used in exported files. */
const curves: Readonly<Record<string, (update: UpdateRecord) => number>> = {
  score: (update) => (ranGraphs(update) ? update.score : Number.NaN),
  return: ({ returns }) => meanOf(returns.map(([first = 0]) => first)),
  'loss/total': ({ loss }) => loss.total,
  'loss/policy': ({ loss }) => loss.policy,
  'loss/divergence': ({ loss }) => loss.divergence,
  'loss/entropy': ({ loss }) => loss.entropy,
  temperature: ({ temperature }) => temperature,
  'tokens/made': ({ made }) => made.input + made.output,
  'tokens/reused': ({ reused }) => reused.input + reused.output,
  calls: ({ made }) => made.calls,
  retries: ({ retries = 0 }) => retries,
  'cost/spent': ({ spent: { cost } }) => (cost === 'unpriced' ? Number.NaN : cost.amount),
  seconds: ({ wallMs }) => wallMs / 1000,
}

/** The curves as CSV: one line per update, empty cells for missing numbers. */
export function curvesCsv(updates: readonly UpdateRecord[]): string {
  const names = Object.keys(curves)
  const lines = updates.map((update) => [
    update.update,
    update.at,
    csvText(update.query ?? ''),
    ...names.map((name) => csvNumber(curves[name]!(update))),
  ])
  return [['update', 'at', 'query', ...names], ...lines].map((cells) => `${cells.join(',')}\n`).join('')
}

function csvNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : ''
}

/** Question ids are user text: a spreadsheet would read one that starts like this as a formula. */
function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Writes the curves as a TensorBoard event file and returns its path. */
export function writeTensorBoard(folder: string, updates: readonly UpdateRecord[]): string {
  const begun = Math.floor(Date.parse(updates[0]?.at ?? '') / 1000) || 0
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `events.out.tfevents.${String(begun).padStart(10, '0')}.${hostname()}`)
  const events = [
    message(double(1, begun), bytes(3, Buffer.from('brain.Event:2'))),
    ...updates.map((update) => {
      const values = Object.entries(curves)
        .map(([name, read]) => [name, read(update)] as const)
        .filter(([, value]) => Number.isFinite(value))
        .map(([name, value]) => bytes(1, message(bytes(1, Buffer.from(name)), float(2, value))))
      return message(
        double(1, Date.parse(update.at) / 1000),
        Buffer.concat([varint((2 << 3) | 0), varint(update.update)]),
        bytes(5, message(...values)),
      )
    }),
  ]
  writeFileSync(path, Buffer.concat(events.map(record)))
  return path
}

// The few parts of Protocol Buffers that events need.

function message(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat(fields)
}

function bytes(field: number, content: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content])
}

function double(field: number, value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeDoubleLE(value)
  return Buffer.concat([varint((field << 3) | 1), buffer])
}

function float(field: number, value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeFloatLE(value)
  return Buffer.concat([varint((field << 3) | 5), buffer])
}

function varint(value: number): Buffer {
  const parts: number[] = []
  let rest = value
  do {
    parts.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Buffer.from(parts)
}

/** A TFRecord: length and content, each followed by its masked checksum. */
function record(content: Buffer): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(content.length))
  return Buffer.concat([length, masked(length), content, masked(content)])
}

function masked(content: Uint8Array): Buffer {
  const crc = crc32c(content)
  const rotated = ((crc >>> 15) | (crc << 17)) >>> 0
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32LE((rotated + 0xa282ead8) >>> 0)
  return buffer
}

/** CRC-32C; `node:zlib` only has the standard CRC-32. */
const castagnoli = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

export function crc32c(content: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of content) crc = (crc >>> 8) ^ castagnoli[(crc ^ byte) & 0xff]!
  return (crc ^ 0xffffffff) >>> 0
}
