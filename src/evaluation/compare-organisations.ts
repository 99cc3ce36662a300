import type { OrganisationReport, QuestionRecord } from './organisation-report.ts'
import { type PairedDifference, pairedBootstrap } from './statistics.ts'

export interface ComparedOrganisation
  extends Pick<
    OrganisationReport,
    'organisation' | 'description' | 'split' | 'n' | 'complete' | 'score' | 'tokens' | 'calls' | 'cost'
  > {
  /** Absent for the base itself, and where the two have no question in common. */
  readonly against?: ComparisonWithBase
}

/** All of it on the questions that both have, failures included. */
export interface ComparisonWithBase extends PairedDifference {
  /** The base's name. */
  readonly base: string
  readonly questions: number
  /** Questions with a higher, lower, equal score than the base's. */
  readonly wins: number
  readonly losses: number
  readonly ties: number
  /** Tokens used, as a multiple of the base's. Absent if the base reported none. */
  readonly tokenRatio?: number
}

export interface ComparisonOptions {
  /** The report that the others are compared with, by position; the first by default. */
  readonly base?: number
  readonly seed?: number
  readonly resamples?: number
}

/**
 * Puts reports side by side, in their order. Questions are paired by task id: whether two reports rest on the same data is
 * their owner's to know.
 */
export function compareOrganisations(
  reports: readonly OrganisationReport[],
  { base = 0, seed = 0, resamples = 10_000 }: ComparisonOptions = {},
): ComparedOrganisation[] {
  const baseReport = reports[base]
  if (baseReport === undefined)
    throw new RangeError(`There is no report ${base} to compare with; there are ${reports.length}.`)
  const baseRecords = new Map(baseReport.records.map((record) => [record.task, record]))
  return reports.map((report, position) => {
    const { organisation, description, split, n, complete, score, tokens, calls, cost } = report
    const row = { organisation, description, split, n, complete, score, tokens, calls, cost }
    const pairs = report.records.flatMap((own) => {
      const other = baseRecords.get(own.task)
      return other === undefined ? [] : [{ own, other }]
    })
    if (position === base || pairs.length === 0) return row
    const ownScores = pairs.map(({ own }) => own.score)
    const baseScores = pairs.map(({ other }) => other.score)
    const signs = pairs.map(({ own, other }) => Math.sign(own.score - other.score))
    const baseTokens = tokensOf(pairs.map(({ other }) => other))
    return {
      ...row,
      against: {
        base: baseReport.organisation,
        questions: pairs.length,
        ...pairedBootstrap(ownScores, baseScores, { seed, resamples }),
        wins: signs.filter((sign) => sign > 0).length,
        losses: signs.filter((sign) => sign < 0).length,
        ties: signs.filter((sign) => sign === 0).length,
        ...(baseTokens === 0 ? {} : { tokenRatio: tokensOf(pairs.map(({ own }) => own)) / baseTokens }),
      },
    }
  })
}

function tokensOf(records: readonly QuestionRecord[]): number {
  return records.reduce((sum, { usage }) => sum + usage.input + usage.output, 0)
}
