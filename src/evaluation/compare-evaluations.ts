import { statSync } from 'node:fs'
import { join } from 'node:path'
import { RunError, type RunFolder } from '../store/run-folder.ts'
import { type ComparedOrganisation, compareOrganisations } from './compare-organisations.ts'
import { storedEvaluations } from './evaluate.ts'
import { organisationReport } from './organisation-report.ts'

/** A stored evaluation of a run, with its report. */
export type KeptEvaluation = ReturnType<typeof keptEvaluations>[number]

/** All stored evaluations with at least one record, oldest first. */
export function keptEvaluations(run: RunFolder, name: string) {
  return storedEvaluations(run)
    .filter(({ records }) => records.length > 0)
    .map(({ folder, header, records }) => ({
      run: name,
      folder,
      header,
      report: organisationReport(header, records),
      /** Start time in milliseconds. */
      begunAt: statSync(join(folder, 'evaluation.json')).mtimeMs,
    }))
    .toSorted((a, b) => a.begunAt - b.begunAt)
}

/** Of each group of identical evaluations: the newest of the longest complete ones, else the newest. */
export function latestEvaluations(all: readonly KeptEvaluation[]): KeptEvaluation[] {
  const same = Map.groupBy(all, ({ run, header: { organisation, about, split, model, data } }) =>
    JSON.stringify([run, organisation, about, split, model, data]),
  )
  return [...same.values()].map((group) => {
    const complete = group.filter(({ report }) => report.complete)
    // A short evaluation of a few questions must not replace a full one.
    const most = Math.max(...complete.map(({ report }) => report.n))
    return complete.findLast(({ report }) => report.n === most) ?? group.at(-1)!
  })
}

/** Names that tell evaluations apart: the organisation, plus run, checkpoint, seed or model if those differ. */
export function evaluationLabels(evaluations: readonly KeptEvaluation[]): string[] {
  const factsOf = ({ header: { about, model } }: KeptEvaluation): Record<string, string | number> => ({
    ...about,
    model,
  })
  return evaluations.map((own) => {
    const { organisation } = own.header
    const namesakes = evaluations.filter(
      ({ run, header }) => run === own.run && header.organisation === organisation,
    )
    const telling = Object.entries(factsOf(own)).filter(([fact, value]) =>
      namesakes.some((other) => factsOf(other)[fact] !== value),
    )
    const remark = telling.map(([fact, value]) => (fact === 'model' ? value : `${fact} ${value}`)).join(', ')
    const name = remark === '' ? organisation : `${organisation} (${remark})`
    return isOfSeveralRuns(evaluations) ? `${own.run}: ${name}` : name
  })
}

function isOfSeveralRuns(evaluations: readonly KeptEvaluation[]): boolean {
  return evaluations.some(({ run }) => run !== evaluations[0]!.run)
}

/**
 * The evaluation to compare others with. `wanted` is a run's name, an organisation's or a full label. Default: the
 * first trained one if several runs are compared; within one run the untrained policy, else the direct answer.
 */
export function baseOf(evaluations: readonly KeptEvaluation[], wanted: string | undefined): number {
  const labels = evaluationLabels(evaluations)
  type Fits = (one: KeptEvaluation, position: number) => boolean
  const first = (...wishes: Fits[]) =>
    wishes.map((fits) => evaluations.findIndex(fits)).find((position) => position >= 0)
  const isCalled = (name: string) => (one: KeptEvaluation) => one.header.organisation === name
  if (wanted === undefined) {
    const usual = isOfSeveralRuns(evaluations) ? ['trained'] : ['untrained', 'direct']
    return first(...usual.map(isCalled)) ?? 0
  }
  const found = first(
    (_, position) => labels[position] === wanted,
    (one) => one.run === wanted && one.header.organisation === 'trained',
    (one) => one.run === wanted,
    isCalled(wanted),
    (one) => one.header.organisation.endsWith(`, ${wanted}`),
  )
  if (found !== undefined) return found
  throw new RunError(
    `There is no evaluation of '${wanted}' to compare with. There are: ${labels.join('; ')}.`,
  )
}

export type ComparedEvaluation = ComparedOrganisation & {
  readonly label: string
  readonly evaluation: KeptEvaluation
}

/** Compares evaluations question by question. Throws if they are of different questions or references. */
export function compareEvaluations(
  evaluations: readonly KeptEvaluation[],
  base: number,
): ComparedEvaluation[] {
  const labels = evaluationLabels(evaluations)
  const versions = Map.groupBy(evaluations.keys(), (position) => evaluations[position]!.header.data)
  if (versions.size > 1) {
    const groups = [...versions].map(
      ([data, positions]) =>
        `  ${data.slice(0, 12)}: ${[...positions].map((position) => labels[position]).join('; ')}`,
    )
    throw new RunError(
      `These evaluations are not of the same questions, so they cannot be compared question by question:\n${groups.join('\n')}\nCompare runs of one task set with the same sizes and seed, or look at each with \`magic show\`.`,
    )
  }
  const reports = evaluations.map(({ report }) => report)
  return compareOrganisations(reports, { base }).map((row, position) => ({
    ...row,
    label: labels[position]!,
    evaluation: evaluations[position]!,
  }))
}

export const listings = ['won', 'lost', 'both'] as const

export type Listing = (typeof listings)[number]

/** The questions on which an evaluation and the base disagree, in the base's order. */
export function disagreements(row: ComparedEvaluation, base: ComparedEvaluation, listing: Listing) {
  const own = new Map(row.evaluation.report.records.map((record) => [record.task, record]))
  return base.evaluation.report.records.flatMap((other) => {
    const record = own.get(other.task)
    const gain = record === undefined ? 0 : record.score - other.score
    const outcome = gain > 0 ? ('won' as const) : ('lost' as const)
    if (record === undefined || gain === 0 || (listing !== 'both' && listing !== outcome)) return []
    return [{ task: other.task, outcome, own: record, base: other }]
  })
}
