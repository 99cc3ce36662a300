import fc from 'fast-check'
import { expect, test } from 'vitest'
import { positionAligned } from './advantages.ts'

const epsilon = 1e-8
const group = (value: fc.Arbitrary<number>) =>
  fc.array(fc.array(value, { minLength: 1, maxLength: 5 }), { maxLength: 8 })
const moderate = fc.integer({ min: -1000, max: 1000 }).map((thousandths) => thousandths / 1000)
const finite = fc.double({ noNaN: true, noDefaultInfinity: true })

function expectClose(got: number[][], expected: number[][], digits = 6): void {
  expect(got.map((row) => row.length)).toEqual(expected.map((row) => row.length))
  for (const [k, row] of expected.entries()) {
    for (const [t, value] of row.entries()) expect(got[k]![t], `[${k}][${t}]`).toBeCloseTo(value, digits)
  }
}

test('a position is compared across the trajectories that have it, with the population deviation', () => {
  const advantages = positionAligned([[1, 3], [2, 5, 7], [6]], epsilon)
  const deviation = Math.sqrt(14 / 3) // of 1, 2, 6 around 3
  expectClose(advantages, [[-2 / deviation, -1], [-1 / deviation, 1, 0], [3 / deviation]])
})

test('a single, all-zero or constant position has zero advantage', () => {
  expect(positionAligned([[0.5, -2]], epsilon)).toEqual([[0, 0]])
  expect(positionAligned([[0], [0], [-0]], epsilon)).toEqual([[0], [0], [0]])
  expect(positionAligned([[0.1], [0.1], [0.1]], epsilon)).toEqual([[0], [0], [0]])
  expect(positionAligned([], epsilon)).toEqual([])
})

test('rounding noise is not a signal, at any scale and even without epsilon', () => {
  for (const scale of [1, 1e-9, 1e200]) {
    const noisy = [[(0.1 + 0.2) * scale], [0.3 * scale]]
    expect(positionAligned(noisy, epsilon)).toEqual([[0], [0]])
    expect(positionAligned(noisy, 0)).toEqual([[0], [0]])
  }
})

test('epsilon is added to the unscaled deviation, as in the paper', () => {
  expectClose(positionAligned([[0.2], [0.4]], 0.1), [[-0.5], [0.5]], 12)
  // σ = 1e-9 and ε = 1e-8
  expectClose(positionAligned([[-2e-9], [0]], epsilon), [[-1 / 11], [1 / 11]], 12)
})

test('finite returns give finite advantages within ±√n', () => {
  fc.assert(
    fc.property(group(finite), fc.constantFrom(0, epsilon, 0.1, 1e300), (returns, anyEpsilon) => {
      for (const advantage of positionAligned(returns, anyEpsilon).flat()) {
        expect(Math.abs(advantage)).toBeLessThanOrEqual(Math.sqrt(returns.length) * (1 + 1e-9))
      }
    }),
    {
      numRuns: 1000,
      examples: [
        [[[5e-324], [0]], epsilon],
        [[[Number.MAX_VALUE], [-Number.MAX_VALUE]], 0],
      ],
    },
  )
})

test('shifting all returns changes nothing', () => {
  fc.assert(
    fc.property(group(moderate), moderate, (returns, shift) => {
      const shifted = returns.map((row) => row.map((value) => value + shift))
      expectClose(positionAligned(shifted, epsilon), positionAligned(returns, epsilon))
    }),
  )
})

test('scaling returns and epsilon together changes nothing; a negative factor only flips the sign', () => {
  const factor = fc.integer({ min: -500, max: 500 }).map((exponent) => 2 ** exponent)
  fc.assert(
    fc.property(group(moderate), factor, fc.constantFrom(1, -1), (returns, scale, sign) => {
      const scaled = returns.map((row) => row.map((value) => sign * scale * value))
      const expected = positionAligned(returns, epsilon).map((row) => row.map((value) => sign * value))
      expectClose(positionAligned(scaled, scale * epsilon), expected, 9)
    }),
  )
})

test('each position has mean zero, and a better return never has a smaller advantage', () => {
  fc.assert(
    fc.property(group(moderate), (returns) => {
      const advantages = positionAligned(returns, epsilon)
      for (let position = 0; position < 5; position += 1) {
        const present = [...returns.keys()].filter((k) => position < returns[k]!.length)
        const sum = present.reduce((total, k) => total + advantages[k]![position]!, 0)
        expect(sum).toBeCloseTo(0, 9)
        present.sort((a, b) => returns[a]![position]! - returns[b]![position]!)
        for (const [index, k] of present.slice(1).entries()) {
          expect(advantages[k]![position]).toBeGreaterThanOrEqual(advantages[present[index]!]![position]!)
        }
      }
    }),
  )
})

test.each([Number.NaN, Number.POSITIVE_INFINITY])('a return of %s is refused with its position', (value) => {
  expect(() =>
    positionAligned(
      [
        [1, 2],
        [1, 2, 3, value],
      ],
      epsilon,
    ),
  ).toThrow(`return of action 3 in trajectory 1 is ${value}`)
})
