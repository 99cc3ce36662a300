import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { Problem } from '../problem.ts'
import { parseSafetensors, type StoredTensor, serializeSafetensors } from './safetensors.ts'

const small = new Map<string, StoredTensor>([
  ['weight', { shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, 1e-30, 6) }],
  ['bias', { shape: [2], data: Float32Array.of(7, 8) }],
  ['scalar', { shape: [], data: Float64Array.of(Math.PI) }],
  ['empty', { shape: [0, 4], data: new Float32Array() }],
  ['steps', { shape: [1], data: BigInt64Array.of(-(2n ** 62n)) }],
])

/** A file with an arbitrary header, for content no writer would produce. */
function withHeader(header: unknown, data = new Uint8Array()): Uint8Array {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header))
  const bytes = new Uint8Array(8 + text.length + data.length)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true)
  bytes.set(text, 8)
  bytes.set(data, 8 + text.length)
  return bytes
}

const tensor = (begin: number, end: number, fields: object = {}) => ({
  dtype: 'F32',
  shape: [(end - begin) / 4],
  data_offsets: [begin, end],
  ...fields,
})

describe('round trip', () => {
  test('of types, shapes and names', () => {
    expect(parseSafetensors(serializeSafetensors(small), 'x')).toEqual(small)
  })

  test('of arbitrary tensors', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('1', '0', '__proto__', 'constructor'),
    )
    const data = fc.array(fc.float({ noNaN: true })).map((values) => Float32Array.from(values))
    const tensors = fc
      .array(fc.tuple(name, data), { maxLength: 6 })
      .map((entries) => new Map(entries.map(([key, array]) => [key, { shape: [array.length], data: array }])))
    fc.assert(
      fc.property(tensors, (tensors) => {
        expect(parseSafetensors(serializeSafetensors(tensors), 'x')).toEqual(tensors)
      }),
    )
  })

  test('map order does not matter, and the data is aligned', () => {
    const reversed = new Map([...small].reverse())
    const bytes = serializeSafetensors(small)
    expect(serializeSafetensors(reversed)).toEqual(bytes)
    expect(Number(new DataView(bytes.buffer).getBigUint64(0, true)) % 8).toBe(0)
  })

  test('reads from the middle of a larger buffer', () => {
    const bytes = serializeSafetensors(small)
    const larger = new Uint8Array(bytes.length + 6)
    larger.set(bytes, 3)
    const file = parseSafetensors(larger.subarray(3, 3 + bytes.length), 'x')
    expect(file.get('weight')).toEqual(small.get('weight'))
  })
})

test('the writer refuses what it could not read back', () => {
  const data = Float32Array.of(1, 2)
  const write = (name: string, shape: number[]) => serializeSafetensors(new Map([[name, { shape, data }]]))
  expect(() => write('w', [3])).toThrow("'w' has 2 values, but its shape [3] has 3")
  expect(() => write('__metadata__', [2])).toThrow('__metadata__')
})

const eight = new Uint8Array(8)
test.each<[string, Uint8Array, string]>([
  ['an empty file', new Uint8Array(), 'too few for a header'],
  ['a header length beyond the file', Uint8Array.of(99, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d), 'claims 99 bytes'],
  ['an absurd header length', new Uint8Array(8).fill(0xff), 'at most'],
  ['no JSON', withHeader('{"w":'), 'JSON'],
  ['no UTF-8', Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe), 'not valid'],
  ['a list', withHeader('[]'), 'not a JSON object'],
  ['a header that starts with a space', withHeader(' {}'), 'not a JSON object'],
  ['a tensor that is not an object', withHeader({ w: 3 }), "tensor 'w': Invalid input"],
  ['an unknown type', withHeader({ w: tensor(0, 8, { dtype: 'F7' }) }, eight), "'w', dtype: Invalid option"],
  [
    'a type that objects inherit',
    withHeader({ w: tensor(0, 8, { dtype: 'toString' }) }, eight),
    "'w', dtype: Invalid option",
  ],
  ['no type', withHeader({ w: tensor(0, 8, { dtype: undefined }) }, eight), "'w', dtype: Invalid option"],
  ['a negative size', withHeader({ w: tensor(0, 8, { shape: [-2] }) }, eight), "'w', shape, 0: Too small"],
  [
    'a broken size',
    withHeader({ w: tensor(0, 8, { shape: [1.5] }) }, eight),
    "'w', shape, 0: Invalid input: expected int",
  ],
  [
    'sizes that overflow',
    withHeader({ w: tensor(0, 8, { shape: [2 ** 40, 2 ** 40] }) }, eight),
    "'w' has data",
  ],
  ['a shape that does not fit', withHeader({ w: tensor(0, 8, { shape: [3] }) }, eight), 'takes 12 bytes'],
  [
    'three offsets',
    withHeader({ w: tensor(0, 8, { data_offsets: [0, 4, 8] }) }, eight),
    "'w', data_offsets: Too big",
  ],
  ['reversed offsets', withHeader({ w: tensor(0, 8, { data_offsets: [8, 0] }) }, eight), "'w' has data from"],
  ['an unknown field', withHeader({ w: tensor(0, 8, { stride: 1 }) }, eight), 'Unrecognized key: "stride"'],
  ['a tensor beyond the end', withHeader({ w: tensor(0, 16) }, eight), "'w' ends at byte 16"],
  ['an overlap', withHeader({ v: tensor(0, 8), w: tensor(4, 8) }, eight), "'w' begins at byte 4, not at 8"],
  [
    'a gap',
    withHeader({ v: tensor(0, 4), w: tensor(8, 12) }, new Uint8Array(12)),
    "'w' begins at byte 8, not at 4",
  ],
  ['a gap at the start', withHeader({ w: tensor(4, 8) }, eight), "'w' begins at byte 4, not at 0"],
  ['data left over', withHeader({ w: tensor(0, 4) }, eight), '4 bytes at its end'],
  ['metadata that is not an object', withHeader({ __metadata__: 'x' }), '__metadata__'],
  [
    'metadata that is not text',
    withHeader({ __metadata__: { epoch: 3 } }),
    '__metadata__, epoch: Invalid input',
  ],
  [
    'a duplicate name',
    withHeader(`{"w":${JSON.stringify(tensor(0, 8))}, "\\u0077" : ${JSON.stringify(tensor(0, 8))}}`, eight),
    'w occurs twice',
  ],
  [
    'a duplicate field',
    withHeader('{"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', eight),
    'w.dtype occurs twice',
  ],
])('refuses %s', (_, bytes, message) => {
  const read = () => parseSafetensors(bytes, 'checkpoint.safetensors')
  expect(read).toThrow('is not a valid safetensors file')
  expect(read).toThrow('checkpoint.safetensors')
  expect(read).toThrow(message)
})

test('a name shared by two objects, or used as a value, is not a duplicate', () => {
  const bytes = withHeader({ __metadata__: { w: 'w', dtype: '"shape":' }, w: tensor(0, 8) }, eight)
  expect([...parseSafetensors(bytes, 'x').keys()]).toEqual(['w'])
})

test('is refused when truncated anywhere or extended', () => {
  const bytes = serializeSafetensors(small)
  for (let length = 0; length < bytes.length; length += 1) {
    expect(() => parseSafetensors(bytes.slice(0, length), 'x'), `cut at ${length}`).toThrow(
      'is not a valid safetensors file',
    )
  }
  expect(() => parseSafetensors(Uint8Array.of(...bytes, 0), 'x')).toThrow('is not a valid safetensors file')
})

test('any flipped bit in the header is refused, or gives another well-formed file', () => {
  const bytes = serializeSafetensors(small)
  const headerEnd = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true))
  let refused = 0
  for (let at = 0; at < headerEnd; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const damaged = bytes.slice()
      damaged[at]! ^= 1 << bit
      try {
        const tensors = parseSafetensors(damaged, 'x')
        for (const { shape, data } of tensors.values())
          expect(data.length).toBe(shape.reduce((a, b) => a * b, 1))
      } catch (error) {
        expect(error).toBeInstanceOf(Problem)
        refused += 1
      }
    }
  }
  // Names and metadata are free text; nearly everything else is detected.
  expect(refused).toBeGreaterThan(headerEnd * 4)
})

function split(bytes: Uint8Array): { header: string; data: Uint8Array } {
  const start = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))
  return { header: Buffer.from(bytes.subarray(8, start)).toString().trimEnd(), data: bytes.subarray(start) }
}

describeShared('files of the reference implementation', () => {
  test.each(['full.safetensors', 'full_embeddings.safetensors'])('%s is read and written back', (name) => {
    const bytes = readFileSync(sharedPath('conformance', 'policy', name))
    const file = parseSafetensors(bytes, name)
    expect(file.size).toBeGreaterThan(3)
    const written = split(serializeSafetensors(file))
    const { header, data } = split(bytes)
    // We write no metadata.
    expect(header.startsWith('{"__metadata__":{"format":"pt"},')).toBe(true)
    expect(written.header).toBe(header.replace('"__metadata__":{"format":"pt"},', ''))
    expect(Buffer.compare(written.data, data)).toBe(0)
  })
})
