import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeFrame, FrameReader } from './frames.ts'

test('frames survive any chunking of the stream', () => {
  const frame = fc.record({ kind: fc.constantFrom('U', 'E', 'R'), payload: fc.string({ unit: 'grapheme' }) })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(60)), (frames, cuts) => {
      const nonce = randomBytes(16)
      const stream = Buffer.concat(frames.map(({ kind, payload }) => encodeFrame(nonce, kind, payload)))
      const reader = new FrameReader()
      const read: Array<{ kind: string; payload: string }> = []
      let at = 0
      for (const size of [...cuts, stream.length]) {
        for (const got of reader.push(stream.subarray(at, at + size))!) {
          expect(got.nonce.equals(nonce)).toBe(true)
          read.push({ kind: got.kind, payload: got.payload.toString() })
        }
        at = Math.min(at + size, stream.length)
      }
      expect(read).toEqual(frames)
    }),
  )
})

test('an absurd length ends the stream', () => {
  const header = Buffer.alloc(21, 0xff)
  expect(new FrameReader().push(header)).toBeUndefined()
})
