import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveRandom, logarithm, type Random } from './random.ts'

const draws = (random: Random, count: number) => Array.from({ length: count }, () => random.uniform())
const normals = (random: Random, count: number) => Array.from({ length: count }, () => random.normal())

test('the streams are pinned', () => {
  // Checked once against the generator's published definition in another language. A change here changes
  // every run.
  expect(draws(deriveRandom(7, 'a', 1), 4)).toEqual([
    0.013977998819480586, 0.6803051156289622, 0.017683802616284106, 0.06309243260765829,
  ])
  expect(draws(deriveRandom(0), 3)).toEqual([0.9462591508530441, 0.9528624753786002, 0.6194560546058276])
  expect(normals(deriveRandom('seven', 'b'), 5)).toEqual([
    1.906946388924324, -0.37035664841832744, 0.7072131926067706, 0.49216495451979386, -1.958304562324168,
  ])
})

test('the same key gives the same stream, and another key a different one', () => {
  const part = fc.oneof(fc.string(), fc.integer())
  const key = fc.tuple(part, fc.array(part, { maxLength: 3 }))
  fc.assert(
    fc.property(key, key, (one, other) => {
      const stream = ([seed, parts]: typeof one) => draws(deriveRandom(seed, ...parts), 4)
      expect(stream(one)).toEqual(stream(one))
      if (JSON.stringify(one) !== JSON.stringify(other)) expect(stream(one)).not.toEqual(stream(other))
    }),
  )
})

test('similar keys give different streams', () => {
  const keys = [
    [1],
    ['1'],
    [1, 1],
    [1, '1'],
    [11],
    [1, 'ab', 'c'],
    [1, 'a', 'bc'],
    [1, 'abc'],
    [1, '', 'abc'],
    [1, 'a,b'],
    [1, 'a', 'b'],
    [1, '"a","b"'],
  ] as const
  const firsts = keys.map(([seed, ...parts]) => deriveRandom(seed, ...parts).uniform())
  expect(new Set(firsts).size).toBe(keys.length)
})

test('streams are independent', () => {
  const [a, b] = [deriveRandom(1, 'a'), deriveRandom(1, 'b')]
  const mixed = Array.from({ length: 10 }, () => [a.uniform(), b.normal()])
  expect(mixed.map(([x]) => x)).toEqual(draws(deriveRandom(1, 'a'), 10))
  expect(mixed.map(([, y]) => y)).toEqual(normals(deriveRandom(1, 'b'), 10))
})

/** With n draws a moment deviates by its own deviation over √n; allow four of these. The seed is fixed. */
function expectMoment(values: readonly number[], power: number, mean: number, deviation: number): void {
  const moment = values.reduce((sum, value) => sum + value ** power, 0) / values.length
  expect(Math.abs(moment - mean), `moment ${power}`).toBeLessThan((4 * deviation) / Math.sqrt(values.length))
}

test('uniform draws fill [0, 1) evenly', () => {
  const values = draws(deriveRandom(3, 'uniform'), 100_000)
  expect(values.every((value) => value >= 0 && value < 1)).toBe(true)
  for (const power of [1, 2, 3, 4]) {
    const mean = 1 / (power + 1)
    expectMoment(values, power, mean, Math.sqrt(1 / (2 * power + 1) - mean ** 2))
  }
  const bins = new Array<number>(64).fill(0)
  for (const value of values) bins[Math.floor(value * 64)]! += 1
  const expected = values.length / 64
  const square = bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  // χ² with 63 degrees of freedom: mean 63, deviation √126.
  expect(Math.abs(square - 63)).toBeLessThan(4 * Math.sqrt(126))
  // 53 bits: the lowest are random too.
  expect(values.some((value) => (value * 2 ** 53) % 2 === 1)).toBe(true)
  const lag = values.slice(1).reduce((sum, value, i) => sum + (value - 0.5) * (values[i]! - 0.5), 0)
  expect(Math.abs(lag / values.length)).toBeLessThan(4 / 12 / Math.sqrt(values.length))
})

test('normal draws have the moments of a standard normal', () => {
  const values = normals(deriveRandom(3, 'normal'), 100_000)
  expectMoment(values, 1, 0, 1)
  expectMoment(values, 2, 1, Math.sqrt(2))
  expectMoment(values, 3, 0, Math.sqrt(15))
  expectMoment(values, 4, 3, Math.sqrt(96))
  const beyond = values.filter((value) => Math.abs(value) > 1.96).length / values.length
  expect(Math.abs(beyond - 0.05)).toBeLessThan(4 * Math.sqrt((0.05 * 0.95) / values.length))
  // The two of a pair are independent.
  const pairs = values.reduce((sum, value, i) => (i % 2 === 1 ? sum + value * values[i - 1]! : sum), 0)
  expect(Math.abs(pairs / (values.length / 2))).toBeLessThan(4 / Math.sqrt(values.length / 2))
})

test('the logarithm agrees with the engine’s', () => {
  const check = (x: number) => {
    const wanted = Math.log(x)
    const allowed = 1e-14 * Math.abs(wanted)
    if (!(Math.abs(logarithm(x) - wanted) <= allowed)) expect(logarithm(x), `ln ${x}`).toBe(wanted)
  }
  const random = deriveRandom(4, 'logarithm')
  for (let count = 0; count < 20_000; count += 1) {
    check(random.uniform() + 2 ** -60)
    check(2 ** (2000 * random.uniform() - 1000))
    check(1 + (random.uniform() - 0.5) * 2 ** -Math.floor(40 * random.uniform()))
  }
  for (let exponent = -1022; exponent < 1024; exponent += 1) check(2 ** exponent)
  for (const x of [Math.SQRT2, Math.SQRT1_2, 1 - 2 ** -53, 1 + 2 ** -52, Number.MAX_VALUE, 2 ** -1022])
    check(x)
  expect(logarithm(1)).toBe(0)
})
