import { compareCodePoints } from '../../python/code-point-order.ts'
import { compareFigures, isBelow } from './displayed.ts'

/** An organisation's score and tokens; null if unknown. */
export interface Point {
  readonly name: string
  /** More is better. */
  readonly score: number | null
  /** Less is better. */
  readonly tokens: number | null
}

type Known = { readonly [Field in keyof Point]: NonNullable<Point[Field]> }

export interface Frontier {
  /** The points nothing dominates, by tokens, then by name. Equal points are all included. */
  readonly frontier: readonly string[]
  /** The dominators of each remaining point. */
  readonly dominated: Readonly<Record<string, readonly string[]>>
  /** Points without a score or tokens. */
  readonly leftOut: readonly string[]
}

export function paretoFrontier(points: readonly Point[]): Frontier {
  const known = points.filter((point): point is Known => point.score !== null && point.tokens !== null)
  const dominators = known.map((point) => ({
    point,
    by: known
      .filter((other) => dominates(other, point))
      .map(({ name }) => name)
      .sort(compareCodePoints),
  }))
  return {
    frontier: dominators
      .filter(({ by }) => by.length === 0)
      .map(({ point }) => point)
      .sort((a, b) => compareFigures(a.tokens, b.tokens) || compareCodePoints(a.name, b.name))
      .map(({ name }) => name),
    dominated: Object.fromEntries(
      dominators.filter(({ by }) => by.length > 0).map(({ point, by }) => [point.name, by]),
    ),
    leftOut: points
      .filter(({ score, tokens }) => score === null || tokens === null)
      .map(({ name }) => name)
      .sort(compareCodePoints),
  }
}

/** No worse in both, and better in one. */
function dominates(b: Known, a: Known): boolean {
  const isNoWorse = !isBelow(b.score, a.score) && !isBelow(a.tokens, b.tokens)
  return isNoWorse && (isBelow(a.score, b.score) || isBelow(b.tokens, a.tokens))
}
