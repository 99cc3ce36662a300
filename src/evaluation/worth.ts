import { type KeptEvaluation, latestEvaluations } from './compare-evaluations.ts'
import { compareOrganisations } from './compare-organisations.ts'
import type { OrganisationReport } from './organisation-report.ts'

export type Worth = ReturnType<typeof worthOf>

/** Whether training paid off: the trained policy against the best fixed graph found at the same price. */
export function worthOf(trained: OrganisationReport, searched: OrganisationReport) {
  const { difference, low, high, questions } = compareOrganisations([searched, trained])[1]!.against!
  return {
    verdict: low > 0 ? ('better' as const) : high < 0 ? ('worse' as const) : ('no better' as const),
    /** Trained minus searched, with its 95 % interval over the questions that both have. */
    difference,
    low,
    high,
    questions,
    /** Means per question. */
    tokens: { trained: trained.tokens.total, searched: searched.tokens.total },
  }
}

/** Uses the newest complete evaluations of both on the same questions. Undefined if there are none. */
export function worthOfTraining(kept: readonly KeptEvaluation[]): Worth | undefined {
  const newest = latestEvaluations(kept)
    .filter(({ report }) => report.complete)
    .toSorted((a, b) => b.begunAt - a.begunAt)
  const named = (name: string) => newest.filter(({ header }) => header.organisation === name)
  for (const searched of named('searched')) {
    const { split, model, data } = searched.header
    const trained = named('trained').find(
      ({ header }) => header.split === split && header.model === model && header.data === data,
    )
    if (trained !== undefined) return worthOf(trained.report, searched.report)
  }
  return undefined
}
