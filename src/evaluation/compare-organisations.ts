import type { OrganisationReport, QuestionRecord } from './organisation-report.ts'
import { detectableDifference, pairedBootstrap } from './statistics.ts'

export type ComparedOrganisation = ReturnType<typeof compareOrganisations>[number]

export interface ComparisonOptions {
  /** Index of the report to compare with. Default: the first. */
  readonly base?: number
  readonly seed?: number
  readonly resamples?: number
}

/**
 * Compares reports, in their order. Questions are paired by task id; the caller must make sure that the reports rest
 * on the same data.
 */
export function compareOrganisations(
  reports: readonly OrganisationReport[],
  { base = 0, seed = 0, resamples = 10_000 }: ComparisonOptions = {},
) {
  const baseReport = reports[base]
  if (baseReport === undefined)
    throw new RangeError(`There is no report ${base} to compare with; there are ${reports.length}.`)
  const baseRecords = new Map(baseReport.records.map((record) => [record.task, record]))
  return reports.map((report, position) => {
    const { organisation, description, fidelity, split, n, complete, score, tokens, calls, cost } = report
    const row = {
      organisation,
      description,
      ...(fidelity && { fidelity }),
      split,
      n,
      complete,
      score,
      tokens,
      calls,
      cost,
    }
    const pairs = report.records.flatMap((own) => {
      const other = baseRecords.get(own.task)
      return other === undefined ? [] : [{ own, other }]
    })
    // The base itself, or a report without common questions.
    if (position === base || pairs.length === 0) return { ...row, against: undefined }
    const ownScores = pairs.map(({ own }) => own.score)
    const baseScores = pairs.map(({ other }) => other.score)
    const signs = pairs.map(({ own, other }) => Math.sign(own.score - other.score))
    const baseTokens = tokensOf(pairs.map(({ other }) => other))
    /** Only counts questions that both have, failures included. */
    const against = {
      /** The base's name. */
      base: baseReport.organisation,
      questions: pairs.length,
      ...pairedBootstrap(ownScores, baseScores, { seed, resamples }),
      /** The smallest difference that this many questions can show. */
      detectable: detectableDifference(
        pairs.length,
        pairs.map(({ own, other }) => own.score - other.score),
      ),
      /** Questions with a higher, lower, equal score than the base's. */
      wins: signs.filter((sign) => sign > 0).length,
      losses: signs.filter((sign) => sign < 0).length,
      ties: signs.filter((sign) => sign === 0).length,
      /** Tokens used, as a multiple of the base's. Absent if the base reported none. */
      tokenRatio: baseTokens === 0 ? undefined : tokensOf(pairs.map(({ own }) => own)) / baseTokens,
    }
    return { ...row, against }
  })
}

/** The smallest difference that these questions can show; for several reports, each compared with the first. */
export function detectableAmong([first, ...others]: readonly OrganisationReport[]): number {
  const scores = new Map(first!.records.map(({ task, score }) => [task, score]))
  const each = others.map(({ records }) => {
    const differences = records.flatMap(({ task, score }) => score - (scores.get(task) ?? score))
    return detectableDifference(differences.length, differences)
  })
  return each.length === 0 ? detectableDifference(first!.n) : Math.max(...each)
}

function tokensOf(records: readonly QuestionRecord[]): number {
  return records.reduce((sum, { usage }) => sum + usage.input + usage.output, 0)
}
