import { compareOrganisations } from '../../evaluation/compare-organisations.ts'
import type { OrganisationReport } from '../../evaluation/organisation-report.ts'
import type { ConditionResult } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { paretoFrontier } from '../measures/pareto.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'

/** Wilson's 95 % interval over questions, in percent. */
export function intervalText({ score: { low, high } }: Pick<OrganisationReport, 'score'>): string {
  return `[${twoDecimals(low * 100)}, ${twoDecimals(high * 100)}]`
}

/** The conditions that no other one beats in both score and tokens. */
export function frontierOf(
  results: readonly ConditionResult[],
  tokensOf: (result: ConditionResult) => number,
) {
  return paretoFrontier(
    results.map((one) => ({
      name: one.condition,
      score: one.report.score.mean * 100,
      tokens: tokensOf(one),
    })),
  )
}

/** Paired bootstrap over questions against one condition, in words. */
export function differenceNotes(results: readonly ConditionResult[], base: string): string[] {
  const place = results.findIndex(({ condition }) => condition === base)
  if (place === -1) return []
  return compareOrganisations(
    results.map(({ report }) => report),
    { base: place },
  ).flatMap(({ against }, index) => {
    if (against === undefined) return []
    const [mean, low, high] = [against.difference, against.low, against.high].map((one) =>
      twoDecimals(one * 100),
    )
    return `${results[index]!.condition} − ${base}: ${mean} points [${low}, ${high}], paired bootstrap over ${against.questions} questions, 95 %. It says nothing about another training seed.`
  })
}

/** What every evaluation took and how its executions ended, a table per task set. */
export function evaluationTables(results: readonly ConditionResult[]): ReportTable[] {
  return [...Map.groupBy(results, ({ set }) => set)].map(([set, own]) => ({
    id: `evaluations-${set}`,
    title: `Evaluations on ${own[0]!.title}`,
    source: 'measured',
    columns: [
      ...['organisation', 'seed', own[0]!.metric, '95 % interval', ...measuresOf(own), 'n'],
      ...['tokens', 'tokens per question', 'calls', 'cost', 'unanswered', 'failed nodes'],
      ...['mean units', 'share of groups', 'statuses'],
    ],
    rows: own.map(({ condition, seed, report, runs }) => {
      const { usage, cost, failures, units, statuses, programs } = report
      const tokens = usage.input + usage.output
      const ends = Object.entries({ ...statuses, ...programs }).map(([end, count]) => `${end} ${count}`)
      return [
        textCell(condition),
        figure(seed, String),
        figure(report.score.mean * 100, twoDecimals, { runs }),
        textCell(intervalText(report)),
        ...measuresOf(own).map((name) => figure((report.measures[name] ?? 0) * 100, twoDecimals, { runs })),
        figure(report.n, String),
        figure(tokens, tokensText, { runs }),
        figure(tokens / report.n, (one) => String(Math.round(one)), { runs }),
        figure(usage.calls, String, { runs }),
        cost === 'unpriced'
          ? textCell('no price')
          : figure(cost.amount, (one) => `${one.toFixed(4)} ${cost.currency}`),
        figure(failures.unanswered, String),
        figure(failures.nodes, String),
        figure(units.mean, twoDecimals),
        figure(units.groups * 100, (one) => `${twoDecimals(one)} %`),
        textCell(ends.join(', ')),
      ]
    }),
    notes: unknownNotes(own),
  }))
}

function measuresOf(results: readonly ConditionResult[]): string[] {
  return [...new Set(results.flatMap(({ report }) => Object.keys(report.measures)))]
}

/** Attempts that may have been charged but told no usage make token counts lower bounds. */
function unknownNotes(results: readonly ConditionResult[]): string[] {
  const unknown = results.reduce((sum, { report }) => sum + report.usage.unknown, 0)
  return unknown === 0
    ? []
    : [`${unknown} attempts may have been charged but told no usage: tokens and cost are lower bounds.`]
}
