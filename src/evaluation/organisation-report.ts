import type { Unit } from '../graph/agent-graph.ts'
import { addCosts, type Cost } from '../models/prices.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import type { Evaluation } from '../store/ledger/evaluation.ts'
import { type MeanInterval, meanInterval, meanOf } from './statistics.ts'

/** One question, one graph, one answer and its score: plain data, all that a report is made of. */
export interface QuestionRecord extends Omit<Evaluation, 'reused'> {
  /** The task's id. */
  readonly task: string
  readonly graph: { readonly units: readonly Unit[] }
  /** By `graphKey`. */
  readonly graphKey: string
}

/** What an evaluation is of. */
export interface ReportedEvaluation {
  /** Its name. */
  readonly organisation: string
  readonly description: string
  readonly split: string
  /** Questions that were to be evaluated. */
  readonly tasks: number
}

export interface OrganisationReport extends Omit<ReportedEvaluation, 'tasks'> {
  /** Questions that were evaluated: the denominator of every mean, failures included. */
  readonly n: number
  /** Questions that were to be evaluated. */
  readonly total: number
  /** False where a budget or a signal ended it early. */
  readonly complete: boolean
  readonly score: MeanInterval
  /** Means of further measures; where an answer has none it counts as zero. */
  readonly measures: Readonly<Record<string, number>>
  /** How the tests of programs ended, and how often; only where answers are programs. */
  readonly programs?: Readonly<Record<string, number>>
  /** Means per question. */
  readonly tokens: { readonly input: number; readonly output: number; readonly total: number }
  /** Mean per question. */
  readonly calls: number
  /** Of all questions together. While it has unknown attempts, tokens and cost are lower bounds. */
  readonly usage: Usage
  /** Of all questions together. */
  readonly cost: Cost
  readonly failures: {
    /** Questions without a valid answer. */
    readonly unanswered: number
    /** Nodes that failed, made good by others or not. */
    readonly nodes: number
  }
  /** Mean per question. */
  readonly durationMs: number
  readonly units: {
    /** Outer units per question. */
    readonly mean: number
    /** Share of groups among them. */
    readonly groups: number
  }
  /** In the order of the tasks. */
  readonly records: readonly QuestionRecord[]
}

/** What records say together; they are in the order of the tasks, and at least one. */
export function organisationReport(
  { organisation, description, split, tasks: total }: ReportedEvaluation,
  records: readonly QuestionRecord[],
): OrganisationReport {
  const n = records.length
  const units = records.flatMap(({ graph }) => graph.units)
  const groups = units.filter(({ realization }) => realization === 'group').length
  const usage = records.reduce((sum, record) => addUsage(sum, record.usage), noUsage)
  const { input, output, calls } = usage
  return {
    organisation,
    description,
    split,
    n,
    total,
    complete: n === total,
    score: meanInterval(records.map(({ score }) => score)),
    measures: measureMeans(records),
    ...programCounts(records),
    tokens: { input: input / n, output: output / n, total: (input + output) / n },
    calls: calls / n,
    usage,
    cost: records.map(({ cost }) => cost).reduce(addCosts),
    failures: {
      unanswered: records.filter(({ status }) => status !== 'answered').length,
      nodes: records.reduce((sum, { failures }) => sum + failures.length, 0),
    },
    durationMs: meanOf(records.map(({ durationMs }) => durationMs)),
    units: { mean: units.length / n, groups: groups / Math.max(1, units.length) },
    records,
  }
}

function measureMeans(records: readonly QuestionRecord[]): Record<string, number> {
  const names = new Set(records.flatMap(({ measures }) => Object.keys(measures ?? {})))
  return Object.fromEntries(
    [...names].sort().map((name) => [name, meanOf(records.map(({ measures }) => measures?.[name] ?? 0))]),
  )
}

function programCounts(records: readonly QuestionRecord[]): Pick<OrganisationReport, 'programs'> {
  const ends = records.flatMap(({ program }) => program ?? []).sort()
  if (ends.length === 0) return {}
  const count = (end: string) => ends.filter((one) => one === end).length
  return { programs: Object.fromEntries(ends.map((end) => [end, count(end)])) }
}
