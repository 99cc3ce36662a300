// The paper's data selections are defined by Python's `random.Random(seed)`, so this is CPython's generator and
// its derived draws (3.2 to 3.11), bit for bit. Not covered: string, bytes and float seeds, and distributions.

const stateWords = 624
const period = 397

/** Mersenne Twister with CPython's integer seeding and its algorithms for integers, samples and shuffles. */
export class PythonRandom {
  readonly #state = new Uint32Array(stateWords)
  #next = stateWords

  constructor(seed: number | bigint) {
    if (typeof seed === 'number' && !Number.isSafeInteger(seed))
      throw new RangeError(`The seed must be an integer, and a bigint above 2^53; got ${seed}.`)
    this.#seedByWords(littleEndianWords(seed))
  }

  /** A double in [0, 1) with 53 random bits. */
  random(): number {
    const high = this.#word() >>> 5
    const low = this.#word() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  /** An integer of `k` random bits, of any width. */
  getrandbits(k: number): bigint {
    if (!Number.isSafeInteger(k) || k < 0)
      throw new RangeError(`The number of bits must not be negative; got ${k}.`)
    let value = 0n
    for (let done = 0; done < k; done += 32) {
      const missing = k - done
      const word = missing < 32 ? this.#word() >>> (32 - missing) : this.#word()
      value |= BigInt(word) << BigInt(done)
    }
    return value
  }

  /** A whole number from 0 up to, but not including, `n`. */
  randrange(n: number): number
  randrange(n: bigint): bigint
  randrange(n: number | bigint): number | bigint {
    if (n <= 0 || (typeof n === 'number' && !Number.isSafeInteger(n)))
      throw new RangeError(`A range needs a positive whole number, and a bigint above 2^53; got ${n}.`)
    return typeof n === 'number' ? this.#below(n) : this.#belowBig(n)
  }

  /** Shuffles in place. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = this.#below(i + 1)
      const item = items[i]!
      items[i] = items[j]!
      items[j] = item
    }
    return items
  }

  /** `k` different members of range(n), in the order drawn. */
  sample(n: number, k: number): number[] {
    if (!Number.isSafeInteger(k) || k < 0 || k > n)
      throw new RangeError(`Cannot draw ${k} different members out of ${n}.`)
    if (n > poolLimit(k)) {
      const selected = new Set<number>()
      while (selected.size < k) selected.add(this.#below(n))
      return [...selected]
    }
    const pool = Array.from({ length: n }, (_, index) => index)
    return Array.from({ length: k }, (_, drawn) => {
      const last = n - drawn - 1
      const j = this.#below(last + 1)
      const chosen = pool[j]!
      pool[j] = pool[last]!
      return chosen
    })
  }

  #below(n: number): number {
    return Number(this.#belowBig(BigInt(n)))
  }

  /** Draws as many bits as `n` itself has (not n − 1) and rejects values that are too large, as CPython does. */
  #belowBig(n: bigint): bigint {
    const bits = n.toString(2).length
    let value: bigint
    do value = this.getrandbits(bits)
    while (value >= n)
    return value
  }

  #word(): number {
    if (this.#next === stateWords) this.#twist()
    let y = this.#state[this.#next]!
    this.#next += 1
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }

  #twist(): void {
    const mt = this.#state
    for (let i = 0; i < stateWords; i += 1) {
      const y = (mt[i]! & 0x80000000) | (mt[(i + 1) % stateWords]! & 0x7fffffff)
      mt[i] = mt[(i + period) % stateWords]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
    }
    this.#next = 0
  }

  /** The reference implementation's `init_by_array`. */
  #seedByWords(key: readonly number[]): void {
    const mt = this.#state
    mt[0] = 19650218
    for (let i = 1; i < stateWords; i += 1)
      mt[i] = Math.imul(1812433253, mt[i - 1]! ^ (mt[i - 1]! >>> 30)) + i
    let i = 1
    const advance = () => {
      i += 1
      if (i < stateWords) return
      mt[0] = mt[stateWords - 1]!
      i = 1
    }
    for (let step = 0; step < Math.max(stateWords, key.length); step += 1) {
      const j = step % key.length
      mt[i] = (mt[i]! ^ Math.imul(mt[i - 1]! ^ (mt[i - 1]! >>> 30), 1664525)) + key[j]! + j
      advance()
    }
    for (let step = 1; step < stateWords; step += 1) {
      mt[i] = (mt[i]! ^ Math.imul(mt[i - 1]! ^ (mt[i - 1]! >>> 30), 1566083941)) - i
      advance()
    }
    mt[0] = 0x80000000
  }
}

/** A seed as 32-bit words, lowest first; the sign is dropped, as CPython does. Zero is one word. */
function littleEndianWords(seed: number | bigint): number[] {
  let rest = BigInt(seed)
  if (rest < 0n) rest = -rest
  const words: number[] = []
  do {
    words.push(Number(rest & 0xffffffffn))
    rest >>= 32n
  } while (rest > 0n)
  return words
}

/** Up to this population size CPython samples from a list, above it with a set, which gives different draws. */
export function poolLimit(k: number): number {
  if (k <= 5) return 21
  let table = 1
  while (table < 3 * k) table *= 4
  return 21 + table
}
