import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodeTests } from './program-tests.ts'

const tests = [{ input: '1\n', output: '2\n', testtype: 'stdin' }]

function encode(text: string): string {
  const bytes = Buffer.from(text)
  const pickle = Buffer.concat([Buffer.from([0x80, 4, 0x8c, bytes.length]), bytes, Buffer.from([0x94, 0x2e])])
  return deflateSync(pickle).toString('base64')
}

test('plain and encoded tests are equal', () => {
  expect(decodeTests(JSON.stringify(tests))).toEqual(tests)
  expect(decodeTests(encode(JSON.stringify(tests)))).toEqual(tests)
})

test('errors say what is wrong', () => {
  expect(() => decodeTests('')).toThrow(/neither/)
  expect(() => decodeTests('{not base64}')).toThrow(/neither/)
  expect(() => decodeTests('AAAA')).toThrow()
  expect(() => decodeTests('[{"input": "1", "output": "2", "testtype": "other"}]')).toThrow(/\[0\]\.testtype/)
  expect(() => decodeTests(encode(JSON.stringify(tests)).slice(0, -8))).toThrow()
})

test('a decompression bomb stops at the limit', () => {
  const bomb = deflateSync(Buffer.alloc(2 ** 28 + 1)).toString('base64')
  expect(() => decodeTests(bomb)).toThrow()
})
