import { detectableAmong } from '../../evaluation/compare-organisations.ts'
import type { OrganisationReport } from '../../evaluation/organisation-report.ts'
import type { GraphSearch } from '../../evaluation/search-graph.ts'
import type { Cost } from '../../models/prices.ts'
import { money, percent, scoreWithInterval, tokens } from '../display/numbers.ts'
import type { Lines, Screen } from '../display/screen.ts'
import { type ShownTable, tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'

/** A report with its name in a table. */
export interface LabelledReport {
  readonly label: string
  readonly report: OrganisationReport
  readonly isSimulated: boolean
}

/** Evaluations side by side: scores and costs. */
export function evaluationTable(rows: readonly LabelledReport[], metric: string): ShownTable {
  const measures = [...new Set(rows.flatMap(({ report }) => Object.keys(report.measures)))]
  const isTold = rows.some(({ report }) => report.fidelity !== undefined)
  const fidelityOf = (report: OrganisationReport) => (isTold ? [report.fidelity ?? ''] : [])
  const areFailed = haveFailed(rows)
  return {
    columns: [
      'organisation',
      ...(isTold ? ['fidelity'] : []),
      `${metric} [95 %]`,
      ...measures,
      ...['n', 'tokens/q', 'calls/q', 'cost', ...(areFailed ? ['failed'] : [])],
    ],
    rows: rows.map(({ label, report, isSimulated }) => [
      label,
      ...fidelityOf(report),
      scoreWithInterval(report.score),
      ...measures.map((name) => percent(report.measures[name] ?? Number.NaN)),
      report.complete ? String(report.n) : `${report.n} of ${report.total}`,
      tokens(report.tokens.total),
      report.calls.toFixed(1),
      costText(report.cost, isSimulated),
      ...(areFailed ? [String(report.failures.unanswered)] : []),
    ]),
  }
}

function haveFailed(rows: readonly LabelledReport[]): boolean {
  return rows.some(({ report }) => report.failures.unanswered > 0)
}

/** The table, with its columns explained. */
export function evaluationLines(rows: readonly LabelledReport[], metric: string, screen: Screen): Lines {
  return [
    tableLines(evaluationTable(rows, metric), screen),
    '',
    'tokens/q and calls/q are means per question; cost is for all questions together.',
    haveFailed(rows) && 'failed: questions without a valid answer; they score 0.',
    retriesOf(rows) > 0 && `retries: ${retriesOf(rows)}, counting each attempt after the first of a call.`,
    detectableText(rows.map(({ report }) => report)),
    rows.some(({ isSimulated }) => isSimulated) && simulatedNote,
  ]
}

/** The result and cost of a search, in one line. */
export function searchText(search: GraphSearch, isSimulated: boolean): string {
  const { graphs, questions, score, spent } = search
  const cost = costText(spent.cost, isSimulated)
  return `the best of ${graphs} graphs scores ${percent(score)} on ${questions} training questions; ${tokens(spent.input + spent.output)} tokens, ${cost}`
}

function retriesOf(rows: readonly LabelledReport[]): number {
  return rows.reduce((sum, { report: { usage } }) => sum + usage.attempts - usage.calls, 0)
}

/** The smallest difference this many questions can show; without it, a table of scores promises too much. */
export function detectableText(reports: readonly OrganisationReport[]): string {
  const n = Math.min(...reports.map((report) => report.n))
  const points = (detectableAmong(reports) * 100).toFixed(1)
  const premise = reports.length > 1 ? '' : ', if two organisations disagree on 30 % of them'
  return `${counted(n, 'question')} can show a difference of ${points} percentage points or more${premise}. Smaller differences need more questions.`
}

export const simulatedNote = 'The scores are simulated: no language model was called.'

export function costText(cost: Cost, isSimulated: boolean): string {
  return cost === 'unpriced' && isSimulated ? 'free' : money(cost)
}
