import { directOrganisation } from '../../evaluation/organisation.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import { marks, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Cell, figure, type ReportTable, textCell } from '../report/tables.ts'
import { q1Settings as settings } from '../settings.ts'
import type { ExperimentDefinition } from './definition.ts'
import { seedTables } from './seeds.ts'
import { evaluationTables, intervalText } from './shared-tables.ts'

export const q1: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  comparison: ({ tasks, seeds, training }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      { id: 'direct', organisation: () => directOrganisation() },
      { id: 'MAGIC', training: {} },
    ],
  }),
  async conduct(lab, options) {
    const results = await conduct(lab, this.comparison!(options))
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    return {
      tables: [
        measuredTable(first),
        ...seedTables(results, 'direct'),
        ...evaluationTables(results, 'direct'),
        quotedTable(),
      ],
      figures: [],
      decisions: [
        'Measured rows are the organisations that exist here; all other methods are quoted only, as in the paper.',
        'TAT-QA: the 1,663 questions of test_gold, since the 1,669 of the test file have no public answers.',
        'Training goes through the questions in the order of the membership, once.',
      ],
    }
  },
}

/** Methods by task sets, the best of each column marked. */
function measuredTable(results: readonly ConditionResult[]): ReportTable {
  const bySet = [...Map.groupBy(results, ({ set }) => set).values()]
  const methods = [...new Set(results.map(({ condition }) => condition))]
  const columns = bySet.map((own) => {
    const scores = methods.map((method) => own.find(({ condition }) => condition === method)!)
    const best = marks(
      scores.map(({ report }) => report.score.mean),
      true,
    )
    return scores.map(
      ({ report, runs }, row): Cell => ({
        ...figure(report.score.mean * 100, twoDecimals, { runs }),
        mark: best[row] === 'best' ? 'best' : undefined,
      }),
    )
  })
  return {
    id: 'q1',
    title: 'Q1: mean score × 100 over all selected questions',
    source: 'measured',
    columns: ['method', ...bySet.map(([one]) => `${one!.title} (${one!.metric}, n = ${one!.report.n})`)],
    rows: methods.map((method, row) => [textCell(method), ...columns.map((cells) => cells[row]!)]),
    notes: bySet
      .flat()
      .map(
        ({ title, condition, report }) => `${title}, ${condition}: 95 % interval ${intervalText(report)}.`,
      ),
  }
}

function quotedTable(): ReportTable {
  const { benchmarks, metrics, rows } = quoted.q1
  return {
    id: 'q1-quoted',
    title: 'Q1 as the paper quotes it; all rows but the last are from OpenMAS-GCom',
    source: 'quoted',
    columns: ['method', 'category', ...benchmarks.map((name, index) => `${name} (${metrics[index]})`)],
    rows: rows.map(({ method, category, values }) => [
      textCell(method),
      textCell(category),
      ...values.map((value) => figure(value, twoDecimals)),
    ]),
    notes: [
      'Read with care: over the best baseline of its column MAGIC is ahead by one question on StrategyQA, AQuA, HumanEval and TabFact, by 14 on GSM8K, 17 on LCB-v6 and 48 on MMLU-Pro.',
    ],
  }
}
