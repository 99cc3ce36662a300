import type { ConditionResult } from '../conditions.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { compareSeeds, seedMean } from '../measures/seed-summary.ts'
import { type Cell, figure, type ReportTable, textCell } from '../report/tables.ts'

/** Over several seeds: means with their intervals, and paired differences to a base. One seed has no such table. */
export function seedTables(results: readonly ConditionResult[], base: string): ReportTable[] {
  const seeds = [...new Set(results.map(({ seed }) => seed))]
  if (seeds.length < 2) return []
  return [...Map.groupBy(results, ({ set }) => set)].map(([set, own]) => {
    const bySeed = (condition: string) =>
      seeds.map((seed) => own.find((one) => one.condition === condition && one.seed === seed)!)
    const scores = (condition: string) => bySeed(condition).map(({ report }) => report.score.mean * 100)
    const tokens = (condition: string) =>
      bySeed(condition).map(({ report }) => report.usage.input + report.usage.output)
    const conditions = [...new Set(own.map(({ condition }) => condition))]
    return {
      id: `seeds-${set}`,
      title: `${own[0]!.title} over the seeds ${seeds.join(', ')}`,
      source: 'measured',
      columns: [
        ...['condition', 'mean score', 'deviation', '95 % interval', 'mean tokens'],
        ...[`difference to ${base}`, '95 % interval', 'ahead', 'behind', 'equal', 'p'],
      ],
      rows: conditions.map((condition): Cell[] => {
        const runs = bySeed(condition).flatMap((one) => one.runs)
        const mean = seedMean(scores(condition))
        const row = [
          textCell(condition),
          figure(mean.mean, twoDecimals, { runs }),
          figure(mean.deviation, twoDecimals, { runs }),
          textCell(interval(mean)),
          figure(seedMean(tokens(condition)).mean, (one) => String(Math.round(one)), { runs }),
        ]
        if (condition === base || !conditions.includes(base)) return [...row, ...Array(6).fill(textCell('–'))]
        const { difference, ahead, behind, equal, p } = compareSeeds(scores(condition), scores(base))
        return [
          ...row,
          figure(difference.mean, twoDecimals, { runs }),
          textCell(interval(difference)),
          ...[ahead, behind, equal].map((count) => figure(count, String)),
          figure(p, (one) => one.toFixed(5)),
        ]
      }),
      notes: [
        'Intervals are mean ± t·deviation/√n over seeds; p is the exact two-sided sign-flip test over paired seeds.',
        ...(seeds.length <= 5
          ? [`With ${seeds.length} seeds p cannot be below ${2 ** (1 - seeds.length)}; six can give 0.03125.`]
          : []),
      ],
    }
  })
}

function interval({ low, high }: { readonly low: number | null; readonly high: number | null }): string {
  return low === null || high === null ? 'N/A' : `[${twoDecimals(low)}, ${twoDecimals(high)}]`
}
