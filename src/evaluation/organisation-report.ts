import type { GraphJson } from '../graph/agent-graph.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Option } from '../library/task.ts'
import { addCosts } from '../models/prices.ts'
import { addUsage, noUsage } from '../models/usage.ts'
import type { Fidelity } from '../organisations/organisation.ts'
import type { Evaluation } from '../store/ledger/evaluation.ts'
import { meanInterval, meanOf } from './statistics.ts'

/** What was asked. Missing in records of earlier versions and of runs that keep no content. */
export interface AskedQuestion {
  readonly question?: string
  readonly options?: readonly Option[]
  /** An answer that scores 1, if one is known. Models never get it. */
  readonly expected?: JsonValue
}

/** One question with its graph, answer and score. Reports are made of these alone. */
export interface QuestionRecord extends AskedQuestion, Omit<Evaluation, 'reused'> {
  /** The task's id. */
  readonly task: string
  readonly graph: GraphJson
  /** By `graphKey`. */
  readonly graphKey: string
  /** Facts that a driving organisation noted about this question. */
  readonly notes?: JsonObject
}

/** What was evaluated. */
export interface ReportedEvaluation {
  /** The organisation's name. */
  readonly organisation: string
  readonly description: string
  /** For systems from the literature: what the implementation is based on. */
  readonly fidelity?: Fidelity
  readonly split: string
  /** Number of questions to evaluate. */
  readonly tasks: number
}

export type OrganisationReport = ReturnType<typeof organisationReport>

/** Summarises records, which must be in task order and not empty. */
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
    /** Questions evaluated, failures included: the denominator of every mean. */
    n,
    /** Number of questions to evaluate. */
    total,
    /** False if a budget or a signal ended it early. */
    complete: n === total,
    score: meanInterval(records.map(({ score }) => score)),
    /** Means of further measures; a missing measure counts as zero. */
    measures: measureMeans(records),
    /** Number of executions by status. */
    statuses: countsOf(records.map(({ status }) => status)),
    /** Number of program tests by outcome; only if answers are programs. */
    programs: programCounts(records),
    /** Means per question. */
    tokens: { input: input / n, output: output / n, total: (input + output) / n },
    /** Mean per question. */
    calls: calls / n,
    /** Total over all questions. If it has unknown attempts, tokens and cost are lower bounds. */
    usage,
    /** Total over all questions. */
    cost: records.map(({ cost }) => cost).reduce(addCosts),
    failures: {
      /** Questions without a valid answer. */
      unanswered: records.filter(({ status }) => status !== 'answered').length,
      /** Failed nodes, whether or not others recovered from them. */
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
