import { compareOrganisations } from '../../evaluation/compare-organisations.ts'
import type { OrganisationReport } from '../../evaluation/organisation-report.ts'
import type { ConditionResult } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { type Frontier, paretoFrontier } from '../measures/pareto.ts'
import { type Cell, type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'

/** Wilson's 95 % interval over questions, in percent. */
export function intervalText({ score: { low, high } }: Pick<OrganisationReport, 'score'>): string {
  return `[${twoDecimals(low * 100)}, ${twoDecimals(high * 100)}]`
}

/** The tokens of all questions; null if the model reported none, so that they cannot be compared. */
export function totalTokens({ report: { usage } }: ConditionResult): number | null {
  const told = usage.input + usage.output
  return told === 0 && usage.unknown > 0 ? null : told
}

/** The difference between two conditions in points: paired bootstrap over the questions both have. */
export function differenceCell(a: ConditionResult | undefined, b: ConditionResult | undefined): Cell {
  if (a === undefined || b === undefined || a === b) return textCell('–')
  const [{ against }] = compareOrganisations([a.report, b.report], { base: 1 }) as [
    ReturnType<typeof compareOrganisations>[number],
  ]
  if (against === undefined) return textCell('N/A')
  const [mean, low, high] = [against.difference, against.low, against.high].map((one) =>
    twoDecimals(one * 100),
  )
  return { value: against.difference * 100, text: `${mean} [${low}, ${high}]`, runs: [...a.runs, ...b.runs] }
}

export const pairedNote =
  'Differences are in points, with the 95 % interval of the paired bootstrap over questions, which says nothing about other training seeds.'

/** The conditions not dominated in score and tokens. */
export function frontierOf(
  results: readonly ConditionResult[],
  tokensOf: (result: ConditionResult) => number | null = totalTokens,
): Frontier {
  return paretoFrontier(
    results.map((one) => ({
      name: one.condition,
      score: one.report.score.mean * 100,
      tokens: tokensOf(one),
    })),
  )
}

/** A condition's position relative to the frontier. */
export function frontierCell({ dominated, leftOut }: Frontier, condition: string): Cell {
  if (leftOut.includes(condition)) return textCell('left out: no usage reported')
  return textCell(dominated[condition]?.join(', ') ?? 'frontier')
}

/** Score over tokens, the frontier as a line. */
export function frontierFigure(
  results: readonly ConditionResult[],
  about: Pick<Figure, 'id' | 'x'>,
  tokensOf: (result: ConditionResult) => number | null = totalTokens,
): Figure {
  const { title, metric } = results[0]!
  const { frontier, leftOut } = frontierOf(results, tokensOf)
  const known = results.filter(({ condition }) => !leftOut.includes(condition))
  const point = (one: ConditionResult) => ({ x: tokensOf(one)!, y: one.report.score.mean * 100 })
  const onFrontier = frontier.map((name) => known.find(({ condition }) => condition === name)!)
  return {
    ...about,
    title: `${title}: ${metric} against ${about.x}`,
    y: metric,
    series: [
      {
        name: 'organisations',
        points: known.map((one) => ({ ...point(one), label: one.condition })),
        line: false,
      },
      { name: 'frontier', points: onFrontier.map(point), line: true },
    ],
    caption:
      leftOut.length === 0 ? undefined : `Left out, because no usage was reported: ${leftOut.join(', ')}.`,
  }
}

/** Usage and outcomes of every evaluation, one table per task set. Differences are to `base`. */
export function evaluationTables(results: readonly ConditionResult[], base?: string): ReportTable[] {
  return [...Map.groupBy(results, ({ set }) => set)].map(([set, own]) => ({
    id: `evaluations-${set}`,
    title: `Evaluations on ${own[0]!.title}`,
    source: 'measured',
    columns: [
      ...['organisation', 'seed', own[0]!.metric, '95 % interval', ...measuresOf(own), 'n'],
      ...(base === undefined ? [] : [`difference from ${base} [95 %]`]),
      ...['tokens', 'tokens per question', 'calls', 'cost', 'cost per question', 'unanswered'],
      ...['failed nodes', 'mean units', 'share of groups', 'statuses'],
    ],
    rows: own.map((one) => {
      const { condition, seed, report, runs } = one
      const { usage, cost, failures, units, statuses, programs } = report
      const tokens = usage.input + usage.output
      const ends = Object.entries({ ...statuses, ...programs }).map(([end, count]) => `${end} ${count}`)
      const money = (questions: number) =>
        cost === 'unpriced'
          ? textCell('no price')
          : figure(cost.amount / questions, (amount) => `${amount.toFixed(4)} ${cost.currency}`, { runs })
      const other = own.find((two) => two.condition === base && two.seed === seed)
      return [
        textCell(condition),
        figure(seed, String),
        figure(report.score.mean * 100, twoDecimals, { runs }),
        textCell(intervalText(report)),
        ...measuresOf(own).map((name) => figure((report.measures[name] ?? 0) * 100, twoDecimals, { runs })),
        figure(report.n, String),
        ...(base === undefined ? [] : [differenceCell(one, other)]),
        figure(tokens, tokensText, { runs }),
        figure(tokens / report.n, (value) => String(Math.round(value)), { runs }),
        figure(usage.calls, String, { runs }),
        money(1),
        money(report.n),
        figure(failures.unanswered, String),
        figure(failures.nodes, String),
        figure(units.mean, twoDecimals),
        figure(units.groups * 100, (value) => `${twoDecimals(value)} %`),
        textCell(ends.join(', ')),
      ]
    }),
    notes: [...(base === undefined ? [] : [pairedNote]), ...unknownNotes(own)],
  }))
}

function measuresOf(results: readonly ConditionResult[]): string[] {
  return [...new Set(results.flatMap(({ report }) => Object.keys(report.measures)))]
}

/**
 * Attempts that may have been charged without reporting usage make token counts lower bounds, so every table with
 * tokens says so.
 */
export function unknownNotes(results: readonly ConditionResult[]): string[] {
  return results
    .filter(({ report }) => report.usage.unknown > 0)
    .map(
      ({ condition, report: { usage } }) =>
        `${condition}: ${usage.unknown} attempts may have been charged but reported no usage; its tokens and cost are lower bounds.`,
    )
}
