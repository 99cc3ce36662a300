import { organisationReport, type QuestionRecord } from '../../evaluation/organisation-report.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { assertLegalGraph } from '../../graph/legality.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { d1Settings as settings } from '../settings.ts'
import { type D1Assignment, d1Assignments, d1Table } from '../tables/d1-table.ts'
import type { ExperimentDefinition } from './definition.ts'
import { differenceCell, evaluationTables, intervalText, pairedNote, unknownNotes } from './shared-tables.ts'

export const d1: ExperimentDefinition = {
  settings,
  comparison: ({ tasks, seeds }) => ({
    tasks,
    seeds: seeds.slice(0, 1),
    study: settings.study,
    training: settings.training,
    conditions: d1Assignments.map((id) => ({ id, organisation: (set: TaskSet) => assigned(id, set) })),
  }),
  async conduct(lab, options) {
    const results = (await conduct(lab, this.comparison!(options))).map(byD1sRule)
    const bySet = [...Map.groupBy(results, ({ set }) => set).values()]
    return {
      tables: [
        ...bySet.flatMap(assignmentTables),
        ...evaluationTables(results, 'AAA'),
        ...bySet.flatMap(([one]) => quotedTable(one!.set)),
      ],
      figures: bySet.map(panel),
      decisions: [
        `The skeleton is the chain ${settings.skeleton.join(' → ')}; the paper does not name its roles.`,
        'On both data sets, a right answer counts as wrong if a node ended without a valid packet.',
        'The preferred assignment has the highest accuracy, then the fewest tokens, then the first place in the table.',
      ],
    }
  },
}

function assigned(assignment: D1Assignment, { library }: TaskSet) {
  const graph = AgentGraph.of(
    settings.skeleton.map((role, unit) => ({
      role,
      realization: assignment[unit] === 'A' ? ('atomic' as const) : ('group' as const),
      predecessors: unit === 0 ? [] : [unit - 1],
    })),
  )
  const { maxDepth } = settings.training
  assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', maxUnits: graph.size, maxDepth })
  return {
    name: assignment,
    description: `${settings.skeleton.join(', ')} in a chain, ${assignment}: A atomic, G group.`,
    graphFor: () => graph,
  }
}

/** D1's rule: answers are right or wrong, and wrong if a node failed. */
function byD1sRule(result: ConditionResult): ConditionResult {
  const { report } = result
  const records = report.records.map((record) => ({
    ...record,
    score: isRight(record) && record.failures.length === 0 ? 1 : 0,
    measures: { ...record.measures, beforeFailures: isRight(record) ? 1 : 0 },
  }))
  return { ...result, report: organisationReport({ ...report, tasks: report.total }, records) }
}

/** Regardless of failures. */
function isRight({ score, measures }: QuestionRecord): boolean {
  return (measures?.['beforeFailures'] ?? score) === 1
}

function tableOf(results: readonly ConditionResult[]) {
  return d1Table(
    results.flatMap(({ condition, report }) =>
      report.records.map((record) => ({
        assignment: condition,
        example: record.task,
        scoreCorrect: isRight(record),
        failures: record.failures.length,
        input: record.usage.input,
        output: record.usage.output,
      })),
    ),
  )
}

function assignmentTables(results: readonly ConditionResult[]): ReportTable[] {
  const { set, title } = results[0]!
  const table = tableOf(results)
  const of = (assignment: string) => results.find(({ condition }) => condition === assignment)!
  const percent = (value: number) => `${twoDecimals(value)} %`
  return [
    {
      id: `d1-${set}`,
      title: `D1 on ${title}: ${table.questions} questions, ${table.executions} executions`,
      source: 'measured',
      columns: [
        ...['assignment', 'correct', 'right before the failure rule', 'with failures', 'accuracy'],
        ...[
          '95 % interval',
          'change [95 %]',
          'won/lost',
          'input',
          'output',
          'tokens',
          'tokens relative to GGG',
          'frontier',
        ],
      ],
      rows: table.rows.map((row) => {
        const { runs, report } = of(row.assignment)
        return [
          textCell(row.assignment),
          figure(row.correct, String, { runs }),
          figure(row.correctBeforeFailures, String, { runs }),
          figure(row.withFailures, String, { runs }),
          figure(row.accuracy, twoDecimals, { runs }),
          textCell(intervalText(report)),
          differenceCell(of(row.assignment), of('AAA')),
          textCell(`${row.wins}/${row.losses}`),
          figure(row.input, String, { runs }),
          figure(row.output, String, { runs }),
          figure(row.tokens, tokensText, { runs }),
          figure(row.tokenChangeAgainstGGG, percent, { runs }),
          textCell(row.onFrontier ? 'yes' : 'no'),
        ]
      }),
      notes: [
        pairedNote,
        ...unknownNotes(results),
        `Preferred: ${table.preferred}, ${twoDecimals(table.gainOverEndpoints)} points over the better of AAA and GGG, tokens relative to GGG ${table.preferredTokenChangeAgainstGGG === null ? 'N/A' : percent(table.preferredTokenChangeAgainstGGG)}.`,
      ],
    },
    {
      id: `d1-${set}-interventions`,
      title: `D1 on ${title}: one role as a group, compared with AAA`,
      source: 'measured',
      columns: ['role', 'assignment', 'points', 'points [95 %]'],
      rows: (['decomposer', 'solver', 'verifier'] as const).map((role, unit) => {
        const assignment = ['GAA', 'AGA', 'AAG'][unit]!
        const runs = [...of(assignment).runs, ...of('AAA').runs]
        return [
          textCell(role),
          textCell(assignment),
          figure(table.interventions[role], twoDecimals, { runs }),
          differenceCell(of(assignment), of('AAA')),
        ]
      }),
    },
  ]
}

function panel(results: readonly ConditionResult[]): Figure {
  const { set, title } = results[0]!
  const { rows } = tableOf(results)
  const point = (row: (typeof rows)[number]) => ({ x: row.tokens, y: row.accuracy, label: row.assignment })
  const frontier = rows.filter(({ onFrontier }) => onFrontier).sort((a, b) => a.tokens - b.tokens)
  return {
    id: `d1-${set}`,
    title: `${title}: accuracy over tokens`,
    x: 'tokens',
    y: 'accuracy',
    series: [
      { name: 'assignments', points: rows.map(point), line: false },
      { name: 'frontier', points: frontier.map((row) => ({ ...point(row), label: undefined })), line: true },
    ],
  }
}

function quotedTable(set: string): ReportTable[] {
  if (set !== 'mmlu_pro' && set !== 'tatqa') return []
  const paper = quoted.d1[set]
  return [
    {
      id: `d1-${set}-quoted`,
      title: `D1 on ${set} as reported in the paper`,
      source: 'quoted',
      columns: [
        'AAA',
        'GGG',
        'GAA',
        'AAG',
        'preferred',
        'over both endpoints',
        'tokens relative to GGG',
        'frontier',
      ],
      rows: [
        [
          ...[paper.AAA, paper.GGG, paper.GAA, paper.AAG].map((value) => figure(value, twoDecimals)),
          textCell(paper.preferred),
          figure(paper.gain_over_endpoints, twoDecimals),
          figure(paper.preferred_token_change_vs_GGG, (value) => `${twoDecimals(value)} %`),
          textCell(paper.frontier.join(', ')),
        ],
      ],
    },
  ]
}
