import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkPages } from './check-pages.ts'
import { readThrift } from './thrift.ts'

test('reads numbers and nested structs by id, and skips texts and lists', () => {
  // 1: i32 150 (zigzag 300), 2: binary "ab", 3: list of i32 [-1, 2], 4: struct { 1: true }
  const bytes = Uint8Array.from([0x15, 0xac, 0x02, 0x18, 2, 97, 98, 0x19, 0x25, 1, 4, 0x1c, 0x11, 0, 0])
  const { struct, end } = readThrift(bytes)
  expect(end).toBe(bytes.length)
  expect(struct).toEqual(
    new Map<number, unknown>([
      [1, 150],
      [4, new Map([[1, 1]])],
    ]),
  )
})

test('refuses a list without bytes and endless nesting, without allocating for them', () => {
  const list = Uint8Array.from([0x19, 0xf5, 0xff, 0xff, 0xff, 0x0f, 0])
  expect(() => readThrift(list)).toThrow(/no bytes for them/)
  expect(() => readThrift(new Uint8Array(100_000).fill(0x1c))).toThrow(/nested too deeply/)
  expect(() => readThrift(Uint8Array.from([0x19, ...new Array(1000).fill(0x19)]))).toThrow(RangeError)
})

test('any bytes give a struct or a RangeError', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat({ max: 3 }),
      fc.nat({ max: 1000 }),
      (bytes, level, values) => {
        const column = { codec: 'UNCOMPRESSED', isBoolean: false, highestLevels: [level, 1], values } as const
        for (const read of [() => readThrift(bytes), () => checkPages(bytes, column, 1000)]) {
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
