import type { ConditionResult } from '../conditions.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { matchBudget } from '../measures/matched-budget.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { differenceCell, pairedNote, unknownNotes } from './shared-tables.ts'

/** A method that can be had at several sizes, each of them measured. */
export interface MeasuredMethod {
  readonly method: string
  readonly settings: readonly { readonly setting: number; readonly result: ConditionResult }[]
}

export const perQuestion = ({ report }: ConditionResult) => report.tokens.total

/** What other methods reach with no more tokens per question than each organisation has, and with the next size above. */
export function matchedBudgetTable(
  organisations: readonly ConditionResult[],
  methods: readonly MeasuredMethod[],
): ReportTable {
  const { set, title, metric } = organisations[0]!
  const shown = ({ condition, report }: ConditionResult) =>
    `${condition}: ${twoDecimals(report.score.mean * 100)} at ${Math.round(report.tokens.total)}`
  return {
    id: `matched-${set}`,
    title: `Matched budget on ${title}`,
    source: 'measured',
    columns: [
      ...['organisation', metric, 'tokens per question', 'method', 'within its budget', 'share of it'],
      ...['organisation − within [95 %]', 'next above', 'organisation − above [95 %]'],
    ],
    rows: organisations.flatMap((one) =>
      methods.map(({ method, settings }) => {
        const measured = settings.map(({ setting, result }) => ({
          setting,
          tokens: perQuestion(result),
          score: result.report.score.mean,
        }))
        const { within, share, above } = matchBudget(perQuestion(one), measured)
        const of = (chosen: number | null) => settings.find(({ setting }) => setting === chosen)?.result
        const cell = (result: ConditionResult | undefined) =>
          result === undefined
            ? textCell('none')
            : { value: result.report.score.mean * 100, text: shown(result), runs: result.runs }
        return [
          textCell(one.condition),
          figure(one.report.score.mean * 100, twoDecimals, { runs: one.runs }),
          figure(perQuestion(one), (value) => String(Math.round(value)), { runs: one.runs }),
          textCell(method),
          cell(of(within)),
          figure(share, twoDecimals),
          differenceCell(one, of(within)),
          cell(of(above)),
          differenceCell(one, of(above)),
        ]
      }),
    ),
    notes: [
      'Of a method the setting that fits the tokens per question and uses most of them (equal tokens: the higher score, then the smaller setting) is within, the next one above.',
      pairedNote,
      ...unknownNotes([
        ...organisations,
        ...methods.flatMap(({ settings }) => settings.map(({ result }) => result)),
      ]),
    ],
  }
}
