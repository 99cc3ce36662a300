import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PythonRandom, poolLimit } from './random.ts'

test('the first doubles of seed 42 match Python', () => {
  const random = new PythonRandom(42)
  expect([random.random(), random.random(), random.random()]).toEqual([
    0.6394267984578837, 0.025010755222666936, 0.27502931836911926,
  ])
})

test('a multi-word seed uses all its words', () => {
  const seed = 2n ** 100n + 3n
  expect(new PythonRandom(seed).random()).not.toBe(new PythonRandom(seed + 2n ** 64n).random())
  expect(new PythonRandom(seed).random()).toBe(new PythonRandom(-seed).random())
})

test('a seed that is not a whole number is refused', () => {
  expect(() => new PythonRandom(0.5)).toThrow(/seed/)
  expect(() => new PythonRandom(2 ** 60)).toThrow(/bigint/)
})

test('bits of every width come from the same words', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.integer({ min: 1, max: 53 }), (seed, bits) => {
      // randrange of a power of two draws one bit more than the value needs and rejects, so compare through
      // it.
      const wide = new PythonRandom(seed)
      const narrow = new PythonRandom(seed)
      const n = 2 ** (bits - 1)
      expect(BigInt(narrow.randrange(n))).toBe(wide.randrange(BigInt(n)))
    }),
  )
})

test('zero bits draw nothing', () => {
  const random = new PythonRandom(1)
  expect(random.getrandbits(0)).toBe(0n)
  expect(random.random()).toBe(new PythonRandom(1).random())
})

test('a sample has distinct members of the population', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(400), fc.nat(400), (seed, a, b) => {
      const [k, n] = a < b ? [a, b] : [b, a]
      const drawn = new PythonRandom(seed).sample(n, k)
      expect(drawn).toHaveLength(k)
      expect(new Set(drawn).size).toBe(k)
      for (const index of drawn) expect(index >= 0 && index < n).toBe(true)
    }),
  )
})

test('a shuffle keeps every member', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.integer()), (seed, items) => {
      const shuffled = new PythonRandom(seed).shuffle([...items])
      const byValue = (a: number, b: number) => a - b
      expect([...shuffled].sort(byValue)).toEqual([...items].sort(byValue))
    }),
  )
})

test('impossible draws are refused', () => {
  const random = new PythonRandom(0)
  expect(() => random.randrange(0)).toThrow(/positive/)
  expect(() => random.sample(3, 4)).toThrow('Cannot draw 4 different members out of 3.')
  expect(() => random.sample(3, -1)).toThrow(/Cannot draw/)
  expect(() => random.getrandbits(-1)).toThrow(/negative/)
})

test('the switch between the two sampling methods', () => {
  expect([5, 6, 21, 22, 85, 86, 341, 342].map(poolLimit)).toEqual([21, 85, 85, 277, 277, 1045, 1045, 4117])
})
