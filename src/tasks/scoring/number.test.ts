import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNumber, scoreNumber } from './number.ts'

const exactly = (number: string) => ({ kind: 'number', number, tolerance: 0 }) as const

describe('scoreNumber', () => {
  test.each([
    ['42', '42'],
    ['42.0', '42'],
    ['042', '42'],
    [' 42\n', '42'],
    ['1,000', '1000'],
    ['1000', '1,000.00'],
    ['.5', '0.50'],
    ['-0', '0'],
    ['-1,234,567.5', '-1234567.5'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('%s is %s', (answer, number) => {
    expect(scoreNumber(answer, exactly(number))).toEqual({ score: 1, parse: 'ok' })
  })

  test.each([
    ['43', '42'],
    ['-42', '42'],
    ['42.0000000000000000000001', '42'],
    ['123456789012345678901234567891', '123456789012345678901234567890'],
  ])('%s differs from %s', (answer, number) => {
    expect(scoreNumber(answer, exactly(number))).toEqual({ score: 0, parse: 'ok' })
  })

  test.each([
    ['$5'],
    ['5 km'],
    ['5%'],
    ['1e3'],
    ['1,00'],
    ['5.'],
    ['.'],
    ['-'],
    [''],
    ['five'],
    ['٥'],
    ['+5'],
  ])('%j is not a number', (answer) => {
    expect(scoreNumber(answer, exactly('5'))).toEqual({ score: 0, parse: 'invalid' })
  })

  test.each([[5], [null], [['5']], [true]])('%j is not a string', (answer) => {
    expect(scoreNumber(answer, exactly('5')).parse).toBe('invalid')
  })

  test('a million digits are refused, not compared', () => {
    expect(scoreNumber('9'.repeat(1_000_000), exactly('5')).parse).toBe('invalid')
  })

  test.each([
    ['100.1', 1],
    ['99.9', 1],
    ['100.1000001', 0],
    ['-100', 0],
  ])('with a tolerance of 0.001, %s for 100 scores %d', (answer, score) => {
    expect(scoreNumber(answer, { kind: 'number', number: '100', tolerance: 0.001 }).score).toBe(score)
  })

  test('0.3 is exactly within the tolerance of 0.2, though not in doubles', () => {
    expect(scoreNumber('0.3', { kind: 'number', number: '0.2', tolerance: 0.5 }).score).toBe(1)
    expect(scoreNumber('0.30000000000000001', { kind: 'number', number: '0.2', tolerance: 0.5 }).score).toBe(
      0,
    )
    expect(scoreNumber('0.0000001', { kind: 'number', number: '0', tolerance: 0.5 }).score).toBe(0)
    expect(scoreNumber('1000000.1', { kind: 'number', number: '1000000', tolerance: 1e-7 }).score).toBe(1)
  })

  test('a reference that is not a number is our own mistake', () => {
    expect(() => scoreNumber('5', exactly('five'))).toThrow('not a number')
  })

  test('equal integers match in any notation, and others do not', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), fc.nat(5), (a, b, zeros) => {
        const written = `${a.toLocaleString('en-US')}.${'0'.repeat(zeros + 1)}`
        expect(scoreNumber(written, exactly(String(a))).score).toBe(1)
        expect(scoreNumber(written, exactly(String(b))).score).toBe(a === b ? 1 : 0)
      }),
    )
  })
})

test('readNumber never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void readNumber(text)))
})
