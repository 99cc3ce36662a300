import { Problem } from '../../problem.ts'
import { percentChange } from '../measures/displayed.ts'
import { paretoFrontier } from '../measures/pareto.ts'

/** Decomposer, solver, verifier: A atomic, G group. */
export const d1Assignments = ['AAA', 'AAG', 'AGA', 'AGG', 'GAA', 'GAG', 'GGA', 'GGG'] as const

export type D1Assignment = (typeof d1Assignments)[number]

/** One assignment on one question. */
export interface D1Record {
  readonly assignment: string
  readonly example: string
  /** The scorer's verdict, regardless of failures. */
  readonly scoreCorrect: boolean
  /** Nodes that ended without a valid packet. */
  readonly failures: number
  readonly input: number
  readonly output: number
}

/** D1's table for one data set. All assignments share all questions, so missing or duplicate records are errors. */
export function d1Table(records: readonly D1Record[]) {
  const byAssignment = recordsByAssignment(records)
  const questions = [...new Set(records.map(({ example }) => example))]
  for (const [assignment, own] of byAssignment)
    if (questions.length === 0 || own.size !== questions.length)
      throw new D1RecordError(
        'missing',
        `${assignment} has records for ${own.size} of ${questions.length} questions`,
      )
  const atomic = byAssignment.get('AAA')!
  const measured = [...byAssignment].map(([assignment, own]) => {
    const all = [...own.values()]
    const won = questions.map(
      (question) => Number(isCorrect(own.get(question)!)) - Number(isCorrect(atomic.get(question)!)),
    )
    const correct = all.filter(isCorrect).length
    const input = all.reduce((sum, record) => sum + record.input, 0)
    const output = all.reduce((sum, record) => sum + record.output, 0)
    return {
      assignment,
      correct,
      correctBeforeFailures: all.filter(({ scoreCorrect }) => scoreCorrect).length,
      withFailures: all.filter(({ failures }) => failures > 0).length,
      accuracy: (correct / questions.length) * 100,
      input,
      output,
      tokens: input + output,
      wins: won.filter((sign) => sign > 0).length,
      losses: won.filter((sign) => sign < 0).length,
    }
  })
  const of = (assignment: D1Assignment) => measured[d1Assignments.indexOf(assignment)]!
  const [aaa, ggg] = [of('AAA'), of('GGG')]
  const { frontier } = paretoFrontier(
    measured.map(({ assignment, accuracy, tokens }) => ({ name: assignment, score: accuracy, tokens })),
  )
  const rows = measured.map((row) => ({
    ...row,
    changeAgainstAAA: row.accuracy - aaa.accuracy,
    tokenChangeAgainstGGG: percentChange(row.tokens, ggg.tokens),
    onFrontier: frontier.includes(row.assignment),
  }))
  // Stable sort: ties go to the first in the table.
  const preferred = [...rows].sort((a, b) => b.correct - a.correct || a.tokens - b.tokens)[0]!
  const endpointsBest = Math.max(aaa.accuracy, ggg.accuracy)
  return {
    questions: questions.length,
    executions: records.length,
    rows,
    preferred: preferred.assignment,
    endpointsBest,
    gainOverEndpoints: preferred.accuracy - endpointsBest,
    preferredTokenChangeAgainstGGG: preferred.tokenChangeAgainstGGG,
    /** One role as a group, the others atomic, compared with AAA. */
    interventions: {
      decomposer: of('GAA').accuracy - aaa.accuracy,
      solver: of('AGA').accuracy - aaa.accuracy,
      verifier: of('AAG').accuracy - aaa.accuracy,
    },
  }
}

/** A right answer counts as wrong if a node failed. */
function isCorrect({ scoreCorrect, failures }: D1Record): boolean {
  return scoreCorrect && failures === 0
}

function recordsByAssignment(records: readonly D1Record[]): Map<D1Assignment, Map<string, D1Record>> {
  const byAssignment = new Map(d1Assignments.map((assignment) => [assignment, new Map<string, D1Record>()]))
  for (const record of records) {
    const own = byAssignment.get(record.assignment as D1Assignment)
    if (own === undefined)
      throw new D1RecordError('assignment', `'${record.assignment}' is not one of D1's assignments`)
    if (own.has(record.example))
      throw new D1RecordError('duplicate', `${record.assignment} has two records for ${record.example}`)
    own.set(record.example, record)
  }
  return byAssignment
}

export class D1RecordError extends Problem {
  readonly reason: 'assignment' | 'duplicate' | 'missing'

  constructor(reason: D1RecordError['reason'], problem: string) {
    super(`D1's records are not complete: ${problem}.`)
    this.reason = reason
  }
}
