import { compareOrganisations } from '../../evaluation/compare-organisations.ts'
import type { OrganisationReport } from '../../evaluation/organisation-report.ts'
import { matchBudget } from './matched-budget.ts'

/** An organisation compared with self-consistency at the same tokens. */
export interface MatchedRow {
  readonly organisation: string
  readonly tokens: number
  /** Self-consistency with the most answers within its tokens, and with the fewest above. */
  readonly within?: MatchedSetting
  readonly above?: MatchedSetting
  /** The organisation compared with `within`, paired by question. */
  readonly against?: NonNullable<ReturnType<typeof compareOrganisations>[number]['against']>
}

export interface MatchedSetting {
  readonly answers: number
  readonly tokens: number
  readonly score: number
}

/** The number of votes of a self-consistency evaluation; undefined for others. */
export function votedAnswers({ organisation }: Pick<OrganisationReport, 'organisation'>): number | undefined {
  const [, , answers = '5'] = /^self-consistency(:answers=(\d+))?$/.exec(organisation) ?? []
  return organisation.startsWith('self-consistency') ? Number(answers) : undefined
}

/** Empty if self-consistency was not evaluated. */
export function matchedRows(
  rows: readonly { readonly label: string; readonly report: OrganisationReport }[],
): MatchedRow[] {
  const settings = rows.flatMap(({ report }) => {
    const answers = votedAnswers(report)
    return answers === undefined ? [] : [{ answers, report }]
  })
  if (settings.length === 0) return []
  const measured = settings.map(({ answers, report }) => ({
    setting: answers,
    tokens: report.tokens.total,
    score: report.score.mean,
  }))
  return rows
    .filter(({ report }) => votedAnswers(report) === undefined)
    .map(({ label, report }) => {
      const chosen = matchBudget(report.tokens.total, measured)
      const find = (wanted: number | null) => settings.find(({ answers }) => answers === wanted)
      const within = find(chosen.within)
      const shown = (one: (typeof settings)[number] | undefined): MatchedSetting | undefined =>
        one && { answers: one.answers, tokens: one.report.tokens.total, score: one.report.score.mean }
      return {
        organisation: label,
        tokens: report.tokens.total,
        within: shown(within),
        above: shown(find(chosen.above)),
        against: within && compareOrganisations([within.report, report])[1]!.against,
      }
    })
}
