import { type ConditionResult, conduct } from '../conditions.ts'
import { listedCondition, listedNotes } from '../listed-condition.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { q4Settings as settings } from '../settings.ts'
import type { ExperimentDefinition } from './definition.ts'
import { matchedBudgetTables } from './matched-budget.ts'
import { seedTables } from './seeds.ts'
import {
  evaluationTables,
  frontierCell,
  frontierFigure,
  frontierOf,
  intervalText,
  totalTokens,
  unknownNotes,
} from './shared-tables.ts'

export const q4: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  comparison: ({ tasks, seeds, training, organisations = [] }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      // As in Q1, so that runs in the same folder are reused.
      listedCondition('direct'),
      { id: 'MAGIC', training: {} },
      ...[...settings.organisations, ...organisations].map((name) => listedCondition(name)),
    ],
  }),
  async conduct(lab, options) {
    const comparison = this.comparison!(options)
    const results = await conduct(lab, comparison)
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    const bySet = [...Map.groupBy(first, ({ set }) => set).values()]
    return {
      tables: [
        ...bySet.map(frontierTable),
        ...(options.matchedBudget ? await matchedBudgetTables(lab, comparison, options.tasks, first) : []),
        ...seedTables(results, 'MAGIC'),
        ...evaluationTables(results, 'MAGIC'),
        quotedTable(),
      ],
      figures: bySet.map((own) =>
        frontierFigure(own, { id: `q4-${own[0]!.set}`, x: 'tokens of the evaluation' }),
      ),
      decisions: [
        'Chain, Complete, Random and Tree have 4 atomic units, 5 for programs, 6 for knowledge and common sense, of the first roles of the profile; the paper gives neither sizes nor rules.',
        ...listedNotes([...settings.organisations, ...(options.organisations ?? [])]),
        'Tokens are those of the evaluation, without training. Equal points are all on the frontier.',
        "G-Designer, ARG-Designer and GoAgent of the paper's figure must be trained: `--organisations g-designer,arg-designer,go-agent`.",
      ],
    }
  },
}

function frontierTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric } = results[0]!
  const frontier = frontierOf(results)
  const magic = totalTokens(results.find(({ condition }) => condition === 'MAGIC')!)
  return {
    id: `q4-${set}`,
    title: `Q4 on ${title}`,
    source: 'measured',
    columns: [
      ...['organisation', 'fidelity', metric, 'n', '95 % interval', 'tokens', 'tokens relative to MAGIC'],
      'on the frontier, or dominated by',
    ],
    rows: results.map((one) => {
      const { condition, report, runs } = one
      const tokens = totalTokens(one)
      return [
        textCell(condition),
        textCell(one.fidelity ?? '–'),
        figure(report.score.mean * 100, twoDecimals, { runs }),
        figure(report.n, String),
        textCell(intervalText(report)),
        figure(tokens, tokensText, { runs }),
        figure(tokens !== null && magic ? tokens / magic : null, twoDecimals, { runs }),
        frontierCell(frontier, condition),
      ]
    }),
    notes: unknownNotes(results),
  }
}

function quotedTable(): ReportTable {
  const { benchmarks, on_frontier, fewest_tokens, gsm8k_chain } = quoted.q4
  return {
    id: 'q4-quoted',
    title: 'Q4 as reported in the paper, which shows tokens only in a figure',
    source: 'quoted',
    columns: ['benchmark', 'MAGIC on the frontier', 'MAGIC with the fewest tokens'],
    rows: benchmarks.map((name) => [
      textCell(name),
      textCell(on_frontier.includes(name) ? 'yes' : 'no'),
      textCell(fewest_tokens.includes(name) ? 'yes' : 'no'),
    ]),
    notes: [
      `GSM8K: Chain is cheaper, but ${twoDecimals(-gsm8k_chain.score_difference)} points lower (${twoDecimals(gsm8k_chain.score)}).`,
    ],
  }
}
