import { createHash } from 'node:crypto'

/** Uniform draws in [0, 1) with 53 random bits, and standard normal draws. */
export interface Random {
  uniform(): number
  normal(): number
}

/**
 * A generator for one purpose: its draws depend only on the seed and the parts, never on who else draws or when. So
 * results do not depend on the order in which model calls return.
 */
export function deriveRandom(seed: number | string, ...parts: readonly (string | number)[]): Random {
  const digest = createHash('sha256')
    .update(JSON.stringify(['magic-random-v1', seed, ...parts]))
    .digest()
  return new CountedChaos(digest)
}

/** "Small fast chaotic" generator: three words of state and a counter that rules out short cycles. */
class CountedChaos implements Random {
  #a: number
  #b: number
  #c: number
  #counter: number
  #spareNormal: number | undefined

  constructor(key: Buffer) {
    this.#a = key.readInt32LE(0)
    this.#b = key.readInt32LE(4)
    this.#c = key.readInt32LE(8)
    this.#counter = key.readInt32LE(12)
    for (let round = 0; round < 12; round += 1) this.#next()
  }

  uniform(): number {
    const high = this.#next() >>> 5
    const low = this.#next() >>> 6
    return (high * 67108864 + low) / 9007199254740992
  }

  /** Marsaglia's polar method. The logarithm is our own: `Math.log` may change its last bit between engine versions. */
  normal(): number {
    if (this.#spareNormal !== undefined) {
      const spare = this.#spareNormal
      this.#spareNormal = undefined
      return spare
    }
    for (;;) {
      const x = 2 * this.uniform() - 1
      const y = 2 * this.uniform() - 1
      const square = x * x + y * y
      if (square >= 1 || square === 0) continue
      const factor = Math.sqrt((-2 * logarithm(square)) / square)
      this.#spareNormal = y * factor
      return x * factor
    }
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum
  }
}

const words = new DataView(new ArrayBuffer(8))

/** ln x for a normal positive double, by ln x = e·ln 2 + 2·artanh((f − 1)/(f + 1)) with f in [√½, √2). */
export function logarithm(x: number): number {
  words.setFloat64(0, x)
  const high = words.getUint32(0)
  let exponent = (high >>> 20) - 1023
  words.setUint32(0, (high & 0xfffff) | 0x3ff00000)
  let fraction = words.getFloat64(0)
  if (fraction > Math.SQRT2) {
    fraction /= 2
    exponent += 1
  }
  const s = (fraction - 1) / (fraction + 1)
  const square = s * s
  let series = 0
  for (let odd = 25; odd >= 1; odd -= 2) series = series * square + 1 / odd
  return exponent * Math.LN2 + 2 * s * series
}
