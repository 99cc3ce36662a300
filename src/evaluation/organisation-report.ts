import type { GraphJson } from '../graph/agent-graph.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Option } from '../library/task.ts'
import { addCosts } from '../models/prices.ts'
import { addUsage, noUsage } from '../models/usage.ts'
import type { Fidelity } from '../organisations/organisation.ts'
import type { Evaluation } from '../store/ledger/evaluation.ts'
import { meanInterval, meanOf } from './statistics.ts'

/** What was asked. Records of earlier versions, and those of runs that keep no content, lack all of it. */
export interface AskedQuestion {
  readonly question?: string
  readonly options?: readonly Option[]
  /** An answer that scores 1, if one is known. Models never get it. */
  readonly expected?: JsonValue
}

/** One question, one graph, one answer and its score: plain data, all that a report is made of. */
export interface QuestionRecord extends AskedQuestion, Omit<Evaluation, 'reused'> {
  /** The task's id. */
  readonly task: string
  readonly graph: GraphJson
  /** By `graphKey`. */
  readonly graphKey: string
  /** What an organisation that drives noted about this question. */
  readonly notes?: JsonObject
}

/** What an evaluation is of. */
export interface ReportedEvaluation {
  /** Its name. */
  readonly organisation: string
  readonly description: string
  /** Of a system of the literature: what its recipe was written from. */
  readonly fidelity?: Fidelity
  readonly split: string
  /** Questions that were to be evaluated. */
  readonly tasks: number
}

export type OrganisationReport = ReturnType<typeof organisationReport>

/** What records say together; they are in the order of the tasks, and at least one. */
export function organisationReport(
  { organisation, description, fidelity, split, tasks: total }: ReportedEvaluation,
  records: readonly QuestionRecord[],
) {
  const n = records.length
  const units = records.flatMap(({ graph }) => graph.units)
  const groups = units.filter(({ realization }) => realization === 'group').length
  const usage = records.reduce((sum, record) => addUsage(sum, record.usage), noUsage)
  const { input, output, calls } = usage
  return {
    organisation,
    description,
    ...(fidelity !== undefined && { fidelity }),
    split,
    /** Questions that were evaluated: the denominator of every mean, failures included. */
    n,
    /** Questions that were to be evaluated. */
    total,
    /** False where a budget or a signal ended it early. */
    complete: n === total,
    score: meanInterval(records.map(({ score }) => score)),
    /** Means of further measures; where an answer has none it counts as zero. */
    measures: measureMeans(records),
    /** How executions ended, and how often. */
    statuses: countsOf(records.map(({ status }) => status)),
    /** How the tests of programs ended, and how often; only where answers are programs. */
    programs: programCounts(records),
    /** Means per question. */
    tokens: { input: input / n, output: output / n, total: (input + output) / n },
    /** Mean per question. */
    calls: calls / n,
    /** Of all questions together. While it has unknown attempts, tokens and cost are lower bounds. */
    usage,
    /** Of all questions together. */
    cost: records.map(({ cost }) => cost).reduce(addCosts),
    failures: {
      /** Questions without a valid answer. */
      unanswered: records.filter(({ status }) => status !== 'answered').length,
      /** Nodes that failed, made good by others or not. */
      nodes: records.reduce((sum, { failures }) => sum + failures.length, 0),
    },
    /** Mean per question. */
    durationMs: meanOf(records.map(({ durationMs }) => durationMs)),
    /** Outer units per question, and the share of groups among them. */
    units: { mean: units.length / n, groups: groups / Math.max(1, units.length) },
    /** In the order of the tasks. */
    records,
  }
}

function measureMeans(records: readonly QuestionRecord[]): Record<string, number> {
  const names = new Set(records.flatMap(({ measures }) => Object.keys(measures ?? {})))
  return Object.fromEntries(
    [...names].sort().map((name) => [name, meanOf(records.map(({ measures }) => measures?.[name] ?? 0))]),
  )
}

function programCounts(records: readonly QuestionRecord[]): Record<string, number> | undefined {
  const ends = records.flatMap(({ program }) => program ?? [])
  return ends.length === 0 ? undefined : countsOf(ends)
}

function countsOf(ends: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const end of [...ends].sort()) counts[end] = (counts[end] ?? 0) + 1
  return counts
}
