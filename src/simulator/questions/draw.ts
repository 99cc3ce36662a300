import type { Random } from '../../numerics/random.ts'

/** Random choices as questions need them. */
export class Draw {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** Both ends included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.#random.uniform() * (high - low + 1))
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)]!
  }

  /** So many different items in random order; all of them where there are no more. */
  sample<T>(items: readonly T[], count: number): T[] {
    const rest = [...items]
    const chosen: T[] = []
    while (chosen.length < count && rest.length > 0)
      chosen.push(...rest.splice(this.integer(0, rest.length - 1), 1))
    return chosen
  }

  shuffle<T>(items: readonly T[]): T[] {
    return this.sample(items, items.length)
  }

  /** Different whole numbers from a range, both ends included. */
  integers(count: number, low: number, high: number): number[] {
    const chosen = new Set<number>()
    while (chosen.size < Math.min(count, high - low + 1)) chosen.add(this.integer(low, high))
    return [...chosen]
  }

  list(length: number, low: number, high: number): number[] {
    return Array.from({ length }, () => this.integer(low, high))
  }
}
