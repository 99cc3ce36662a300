import type { ConditionResult } from '../conditions.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { compareSeeds, type SeedMean, seedMean } from '../measures/seed-summary.ts'
import { type Cell, figure, type ReportTable, textCell } from '../report/tables.ts'

const columns = [
  ...['condition', 'seeds', 'mean score', 'deviation', '95 % interval'],
  ...['mean tokens', 'deviation of tokens', '95 % interval of tokens'],
]

/** Over several seeds: means with intervals, and paired differences to a base. Empty for a single seed. */
export function seedTables(results: readonly ConditionResult[], base: string): ReportTable[] {
  const seeds = [...new Set(results.map(({ seed }) => seed))]
  if (seeds.length < 2) return []
  return [...Map.groupBy(results, ({ set }) => set)].map(([set, own]) => {
    const byCondition = Map.groupBy(own, ({ condition }) => condition)
    const bases = byCondition.get(base) ?? []
    return {
      id: `seeds-${set}`,
      title: `${own[0]!.title} over the seeds ${seeds.join(', ')}`,
      source: 'measured',
      columns: [...columns, `difference from ${base}`, '95 % interval', 'ahead', 'behind', 'equal', 'p'],
      rows: [...byCondition].map(([condition, measured]): Cell[] => [
        textCell(condition),
        ...meanCells(measured),
        ...(condition === base ? differencesTo([], []) : differencesTo(measured, bases)),
      ]),
      notes: [
        'Intervals are mean ± t·deviation/√n over seeds; p is the exact two-sided sign-flip test over paired seeds. Questions and seeds are never pooled.',
        ...(seeds.length <= 5
          ? [
              `With ${seeds.length} seeds, p cannot be below ${2 ** (1 - seeds.length)}; with six it can be 0.03125.`,
            ]
          : []),
        ...[...byCondition]
          .filter(([, measured]) => measured.length < seeds.length)
          .map(
            ([condition, measured]) =>
              `${condition} only has results for ${measured.length} of ${seeds.length} seeds.`,
          ),
      ],
    }
  })
}

function meanCells(measured: readonly ConditionResult[]): Cell[] {
  const runs = measured.flatMap((one) => one.runs)
  const score = seedMean(measured.map(scoreOf))
  const tokens = seedMean(measured.map(({ report: { usage } }) => usage.input + usage.output))
  return [
    figure(score.n, String),
    figure(score.mean, twoDecimals, { runs }),
    figure(score.deviation, twoDecimals, { runs }),
    textCell(interval(score, twoDecimals)),
    figure(tokens.mean, rounded, { runs }),
    figure(tokens.deviation, rounded, { runs }),
    textCell(interval(tokens, rounded)),
  ]
}

/** Paired by seed, over the seeds both have. */
function differencesTo(measured: readonly ConditionResult[], bases: readonly ConditionResult[]): Cell[] {
  const pairs = measured.flatMap((one) => {
    const other = bases.find(({ seed }) => seed === one.seed)
    return other === undefined ? [] : [{ one, other }]
  })
  if (pairs.length === 0) return Array.from({ length: 6 }, () => textCell('–'))
  const runs = pairs.flatMap(({ one, other }) => [...one.runs, ...other.runs])
  const { difference, ahead, behind, equal, p } = compareSeeds(
    pairs.map(({ one }) => scoreOf(one)),
    pairs.map(({ other }) => scoreOf(other)),
  )
  return [
    figure(difference.mean, twoDecimals, { runs }),
    textCell(interval(difference, twoDecimals)),
    ...[ahead, behind, equal].map((count) => figure(count, String)),
    figure(p, (one) => one.toFixed(5), { runs }),
  ]
}

const scoreOf = ({ report }: ConditionResult) => report.score.mean * 100
const rounded = (value: number) => String(Math.round(value))

function interval({ low, high }: SeedMean, show: (value: number) => string): string {
  return low === null || high === null ? 'N/A' : `[${show(low)}, ${show(high)}]`
}
