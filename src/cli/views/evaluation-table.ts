import type { OrganisationReport } from '../../evaluation/organisation-report.ts'
import type { GraphSearch } from '../../evaluation/search-graph.ts'
import type { Cost } from '../../models/prices.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { money, percent, scoreWithInterval, tokens } from '../display/numbers.ts'
import { type Lines, type Screen, wrapText } from '../display/screen.ts'
import { type ShownTable, tableLines } from '../display/table.ts'

/** A report under the name that it has beside others. */
export interface LabelledReport {
  readonly label: string
  readonly report: OrganisationReport
  readonly isSimulated: boolean
}

/** Evaluations side by side: what they scored and what they took. */
export function evaluationTable(rows: readonly LabelledReport[], metric: string): ShownTable {
  const measures = [...new Set(rows.flatMap(({ report }) => Object.keys(report.measures)))]
  return {
    columns: ['organisation', `${metric} [95 %]`, ...measures, 'n', 'tokens/q', 'calls/q', 'cost', 'failed'],
    rows: rows.map(({ label, report, isSimulated }) => [
      label,
      scoreWithInterval(report.score),
      ...measures.map((name) => percent(report.measures[name] ?? Number.NaN)),
      report.complete ? String(report.n) : `${report.n} of ${report.total}`,
      tokens(report.tokens.total),
      report.calls.toFixed(1),
      costText(report.cost, isSimulated),
      String(report.failures.unanswered),
    ]),
  }
}

/** The table with what its columns mean. */
export function evaluationLines(rows: readonly LabelledReport[], metric: string, screen: Screen): Lines {
  return [
    tableLines(evaluationTable(rows, metric), screen),
    '',
    wrapText('tokens/q, calls/q: means per question. cost: of all questions together.', screen),
    'failed: without a valid answer, counted with a score of 0.',
    rows.some(({ isSimulated }) => isSimulated) && simulatedNote,
  ]
}

/** What a search found and took, for the end of its line. */
export function searchText(search: GraphSearch, isSimulated: boolean): string {
  const { graphs, questions, score, spent } = search
  const cost = costText(spent.cost, isSimulated)
  return `the best of ${graphs} graphs has ${percent(score)} on ${questions} training questions; ${tokens(spent.input + spent.output)} tokens paid, ${cost}`
}

export const simulatedNote = 'The scores are simulated: no language model was asked.'

export function costText(cost: Cost, isSimulated: boolean): string {
  return cost === 'unpriced' && isSimulated ? 'free' : money(cost)
}

/** As `provider/model`. */
export function isSimulatedModel(name: string): boolean {
  return name.startsWith('simulated/') || name.endsWith(`/${simulatedModelName}`)
}
