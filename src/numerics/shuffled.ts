import type { Random } from './random.ts'

/** The items in random order, every order equally likely. */
export function shuffled<Item>(items: Iterable<Item>, random: Random): Item[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random.uniform() * (last + 1))
    ;[order[last], order[other]] = [order[other]!, order[last]!]
  }
  return order
}
