import { type ConditionComparison, type ConditionResult, conductOne } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import { listedCondition } from '../listed-condition.ts'
import { isBelow, twoDecimals } from '../measures/displayed.ts'
import { matchBudget } from '../measures/matched-budget.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { differenceCell, pairedNote, unknownNotes } from './shared-tables.ts'

/** A method with several settings, and the results of those measured. */
interface MeasuredMethod {
  readonly method: string
  readonly settings: ReadonlyMap<number, ConditionResult>
}

export const perQuestion = ({ report }: ConditionResult) => report.tokens.total

/**
 * Compares every organisation with the direct answer and self-consistency at its own tokens per question, in one
 * table per task set: what the same tokens achieve without an organisation.
 */
export async function matchedBudgetTables(
  lab: Laboratory,
  { study, seeds }: Pick<ConditionComparison, 'study' | 'seeds'>,
  tasks: readonly string[],
  results: readonly ConditionResult[],
): Promise<ReportTable[]> {
  const tables: ReportTable[] = []
  for (const name of tasks) {
    const opened = await lab.open(name, study)
    const own = results.filter(({ set, seed }) => set === opened.set.name && seed === seeds[0])
    const measure = (condition: Parameters<typeof conductOne>[2]) =>
      conductOne(lab, opened, condition, { seed: seeds[0]! })
    const direct =
      own.find(({ condition }) => condition === 'direct') ?? (await measure(listedCondition('direct')))
    const organisations = own.filter(({ condition }) => condition !== 'direct')
    const votes = await measuredAround(organisations.map(perQuestion), perQuestion(direct), (answers) =>
      measure(listedCondition('self-consistency', `self-consistency-${answers}`, { answers })),
    )
    tables.push(
      matchedTable(organisations, [
        { method: 'direct', settings: new Map([[1, direct]]) },
        { method: 'self-consistency', settings: votes },
      ]),
    )
  }
  return tables
}

/** Upper limit on votes. */
const mostAnswers = 99

/** Measures odd numbers of answers: for each budget, the largest within it and the smallest above it. */
async function measuredAround(
  budgets: readonly number[],
  tokensOfOne: number,
  measure: (answers: number) => Promise<ConditionResult>,
): Promise<ReadonlyMap<number, ConditionResult>> {
  const measured = new Map<number, ConditionResult>()
  for (const budget of budgets) {
    const exceeds = async (answers: number) => {
      const result = measured.get(answers) ?? (await measure(answers))
      measured.set(answers, result)
      return isBelow(budget, perQuestion(result))
    }
    const guess = Math.floor(budget / Math.max(1, tokensOfOne))
    let answers = Math.min(mostAnswers, Math.max(1, guess - 1 + (guess % 2)))
    while (answers > 1 && (await exceeds(answers))) answers -= 2
    while (answers < mostAnswers && !(await exceeds(answers))) answers += 2
  }
  return measured
}

function matchedTable(
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
        const measured = [...settings].map(([setting, result]) => ({
          setting,
          tokens: perQuestion(result),
          score: result.report.score.mean,
        }))
        const { within, share, above } = matchBudget(perQuestion(one), measured)
        const of = (chosen: number | null) => (chosen === null ? undefined : settings.get(chosen))
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
      '"Within" is the setting that uses the most tokens per question within the budget (ties: the higher score, then the smaller setting), "above" the next larger one. Self-consistency: k answers at temperature 0.7 and a vote, k = 1, 3, 5, …',
      pairedNote,
      ...unknownNotes([...organisations, ...methods.flatMap(({ settings }) => [...settings.values()])]),
    ],
  }
}
