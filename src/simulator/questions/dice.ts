import type { Random } from '../../numerics/random.ts'

/** Random choices for questions. Ranges include both ends. */
export class Dice {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  integer(low: number, high: number, step = 1): number {
    return low + step * Math.floor(this.#random.uniform() * ((high - low) / step + 1))
  }

  /** One number for each range. */
  integers(...ranges: readonly (readonly [low: number, high: number, step?: number])[]): number[] {
    return ranges.map((range) => this.integer(...range))
  }

  /** Different numbers from one range. */
  different(count: number, low: number, high: number): number[] {
    const chosen = new Set<number>()
    while (chosen.size < Math.min(count, high - low + 1)) chosen.add(this.integer(low, high))
    return [...chosen]
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)] as T
  }

  /** One of the words in a text such as `apple, pear, plum`. */
  word(list: string): string {
    return this.pick(list.split(', '))
  }

  /** `count` different items in random order; all of them if there are no more. */
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
}
