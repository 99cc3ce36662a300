import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPickledText } from './pickled-text.ts'

/** The bytes CPython's pickle.dumps writes for a str. */
function pickle(text: string, protocol: 2 | 4): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  if (protocol === 2) return Buffer.concat([Buffer.from([0x80, 2, 0x58]), length, bytes, Buffer.from('q\0.')])
  const short = bytes.length < 256
  const body = short ? [Buffer.from([0x8c, bytes.length]), bytes] : [Buffer.from([0x58]), length, bytes]
  return Buffer.concat([
    Buffer.from([0x80, 4, 0x95, 0, 0, 0, 0, 0, 0, 0, 0]),
    ...body,
    Buffer.from([0x94, 0x2e]),
  ])
}

test('texts of every length round-trip', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(2 as const, 4 as const),
      fc.nat(300),
      (text, protocol, n) => {
        expect(readPickledText(pickle(text.repeat(n), protocol))).toBe(text.repeat(n))
      },
    ),
  )
})

test('a pickle that calls something is refused at the instruction', () => {
  // pickle.dumps of an object whose __reduce__ is (os.system, ('id',)), protocol 2
  const hostile = Buffer.from('gAJjcG9zaXgKc3lzdGVtCnEAWAIAAABpZHEBhXECUnEDLg==', 'base64')
  expect(() => readPickledText(hostile)).toThrow(/instruction 0x63/)
})

test('anything but a single text is refused', () => {
  expect(() => readPickledText(Buffer.from([0x80, 4, 0x2e]))).toThrow(/no text/)
  expect(() => readPickledText(Buffer.concat([pickle('a', 4), Buffer.from('x')]))).toThrow(/follows/)
  expect(() => readPickledText(Buffer.from([0x80, 9]))).toThrow(/protocol/)
  const two = pickle('a', 4)
  expect(() => readPickledText(Buffer.concat([two.subarray(0, -1), two.subarray(11)]))).toThrow(
    /more than one/,
  )
})

test('damaged bytes throw, and never hang or allocate what a length field claims', () => {
  const whole = pickle('some text', 4)
  for (let end = 0; end < whole.length; end += 1)
    expect(() => readPickledText(whole.subarray(0, end))).toThrow()
  expect(() =>
    readPickledText(Buffer.from([0x8d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x2e])),
  ).toThrow(/early/)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        expect(typeof readPickledText(Buffer.from(bytes))).toBe('string')
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
    }),
    { numRuns: 2000 },
  )
})
