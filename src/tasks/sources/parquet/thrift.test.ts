import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRuns } from './check-runs.ts'
import { readThrift } from './thrift.ts'

test('reads fields by id, lists and inner structs', () => {
  // 1: i32 150 (zigzag 300), 2: binary "ab", 3: list of i32 [-1, 2], 4: struct { 1: true }
  const bytes = Uint8Array.from([0x15, 0xac, 0x02, 0x18, 2, 97, 98, 0x19, 0x25, 1, 4, 0x1c, 0x11, 0, 0])
  const { struct, end } = readThrift(bytes)
  expect(end).toBe(bytes.length)
  expect(struct.get(1)).toBe(150)
  expect(struct.get(2)).toEqual(Uint8Array.from([97, 98]))
  expect(struct.get(3)).toEqual([-1, 2])
  expect(struct.get(4)).toEqual(new Map([[1, true]]))
})

test('refuses a list that has no bytes, and endless nesting, without room set aside', () => {
  const list = Uint8Array.from([0x19, 0xf5, 0xff, 0xff, 0xff, 0x0f, 0])
  expect(() => readThrift(list)).toThrow(/no bytes for them/)
  expect(() => readThrift(new Uint8Array(100_000).fill(0x1c))).toThrow(/nested too deeply/)
  expect(() => readThrift(Uint8Array.from([0x19, ...new Array(1000).fill(0x19)]))).toThrow(RangeError)
})

test('any bytes give a struct or a RangeError', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat({ max: 32 }),
      fc.nat({ max: 1000 }),
      (bytes, width, count) => {
        for (const read of [() => readThrift(bytes), () => checkRuns(bytes, 0, width, count)]) {
          try {
            read()
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError)
          }
        }
      },
    ),
  )
})
