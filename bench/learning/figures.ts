import { meanOf, pairedBootstrap } from '../../src/evaluation/statistics.ts'
import { budgetShares, partOf, type SeedResult, tokenWorths } from './examine-seed.ts'

/** A mean over seeds with its 95 % interval, and how many seeds' own intervals exclude zero. In points. */
export interface SeedDifference {
  readonly mean: number
  readonly low: number
  readonly high: number
  readonly seedsAbove: number
  readonly seedsBelow: number
  readonly bySeed: readonly number[]
}

/** The figures of all seeds, from results in any order. Skips seeds with missing results. */
export function learningFigures(results: readonly SeedResult[]) {
  const bySeed = Map.groupBy(results, ({ seed }) => seed)
  const seeds = [...bySeed.keys()].sort((a, b) => a - b)
  const of = (part: string) =>
    seeds.map((seed) => {
      const result = bySeed.get(seed)!.find((one) => one.part === part)
      if (result === undefined) throw new Error(`Seed ${seed} has no result for '${part}'.`)
      return result
    })
  const scoreOf = (part: string) => meanOf(of(part).map(({ scores }) => meanOf(scores)))
  const tokensOf = (part: string) => meanOf(of(part).map(({ tokens }) => tokens))
  const gainOver = (part: string) => difference(of('ours'), of(part))

  const ours = { share: 1, worth: 1, score: scoreOf('ours'), tokens: tokensOf('ours') }
  const byShare = [
    ...budgetShares.map((share) => ({ at: share, score: scoreOf(partOf.share(share)) })),
    { at: 1, score: ours.score },
  ]
  const byTokens = [
    { at: ours.tokens, score: ours.score },
    ...tokenWorths.map((worth) => ({
      at: tokensOf(partOf.worth(worth)),
      score: scoreOf(partOf.worth(worth)),
    })),
  ].sort((a, b) => a.at - b.at)
  const conditional = results.filter(({ part }) => part === partOf.conditional)
  const differences = {
    gain_vs_searched: gainOver('searched'),
    gain_vs_paper: gainOver('paper'),
    gain_vs_untrained: gainOver('untrained'),
    shuffled_drop: gainOver(partOf.shuffled),
  }
  const figures: Record<string, number> = {
    ...Object.fromEntries(Object.entries(differences).map(([name, { mean }]) => [name, mean])),
    tokens_vs_searched: ours.tokens / tokensOf('searched'),
    tokens_at_searched_score: firstToReach(byTokens, scoreOf('searched')) / tokensOf('searched'),
    evaluations_to_match_paper: firstToReach(byShare, scoreOf('paper')),
    ...(conditional.length > 0 && {
      conditional_right_roles_200: meanOf(conditional.map(({ scores }) => meanOf(scores))),
    }),
  }
  return {
    figures,
    differences,
    organisations: ['untrained', 'paper', 'searched', 'ours', partOf.shuffled].map((part) => ({
      organisation: part,
      score: 100 * scoreOf(part),
      tokens: tokensOf(part),
      evaluations: meanOf(of(part).map(({ spent }) => spent)),
    })),
    byShare,
    byTokens,
    conditional: conditional.map(({ seed, scores }) => ({ seed, rightRoles: meanOf(scores) })),
    seeds,
  }
}

/**
 * The smallest amount that reaches the score, interpolated between measured points; infinite if none does. Nothing is known
 * below the first point, so it returns at least that.
 */
export function firstToReach(points: readonly { at: number; score: number }[], score: number): number {
  const place = points.findIndex((point) => point.score >= score)
  if (place === -1) return Number.POSITIVE_INFINITY
  const [before, after] = [points[place - 1], points[place]!]
  if (before === undefined) return after.at
  return before.at + ((score - before.score) / (after.score - before.score)) * (after.at - before.at)
}

function difference(own: readonly SeedResult[], base: readonly SeedResult[]): SeedDifference {
  const paired = own.map(({ seed, scores }, index) => pairedBootstrap(scores, base[index]!.scores, { seed }))
  const bySeed = paired.map(({ difference }) => 100 * difference)
  return {
    ...seedInterval(bySeed),
    seedsAbove: paired.filter(({ low }) => low > 0).length,
    seedsBelow: paired.filter(({ high }) => high < 0).length,
    bySeed,
  }
}

/** The 97.5 % points of Student's t distribution with 1, 2, 3 … degrees of freedom. */
const studentT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086,
]

/** The mean over seeds with its t-interval. A single seed says nothing about others, so its interval is infinite. */
export function seedInterval(values: readonly number[]): Pick<SeedDifference, 'mean' | 'low' | 'high'> {
  const n = values.length
  const mean = meanOf(values)
  if (n < 2) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)
  const half = (studentT[n - 2] ?? 2.086) * Math.sqrt(variance / n)
  return { mean, low: mean - half, high: mean + half }
}
