import { type ConditionComparison, type ConditionResult, conduct } from '../conditions.ts'
import type { Laboratory } from '../laboratory.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Cell, figure, type ReportTable, textCell } from '../report/tables.ts'
import { q2Settings as settings } from '../settings.ts'
import { q2Table, q2Variants } from '../tables/q2-table.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { matchedBudgetTables } from './matched-budget.ts'
import { seedTables } from './seeds.ts'
import { differenceCell, evaluationTables, intervalText, pairedNote, unknownNotes } from './shared-tables.ts'

export const q2: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  comparison: ({ tasks, seeds, training }: StudyOptions): ConditionComparison => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: q2Variants.map((id) => ({ id, training: settings.variants[id] })),
  }),
  async conduct(lab: Laboratory, options) {
    const comparison = this.comparison!(options)
    const results = await conduct(lab, comparison)
    const sets = [...new Set(results.map(({ set }) => set))]
    return {
      tables: [
        ...sets.map((set) =>
          ablationTable(results.filter((one) => one.set === set && one.seed === options.seeds[0])),
        ),
        ...(options.matchedBudget ? await matchedBudgetTables(lab, comparison, options.tasks, results) : []),
        ...seedTables(results, 'full'),
        ...evaluationTables(results),
        ...sets.flatMap(quotedTable),
      ],
      figures: [],
      decisions: [
        'final-reward-only runs no probes, since they would have no effect.',
        'Equal values share a mark; the next distinct value is second.',
        'Construction draws depend only on seed and question id, so all variants use the same draws.',
      ],
    }
  },
}

const columns = ['variant', 'score', 'change', 'tokens', 'change of tokens']

function ablationTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric, seed } = results[0]!
  const { rows, fullAgainstFinalRewardOnly: against } = q2Table(
    results.map(({ condition, report }) => ({
      variant: condition,
      scores: report.records.map(({ score }) => score),
      input: report.records.map(({ usage }) => usage.input),
      output: report.records.map(({ usage }) => usage.output),
    })),
  )
  const of = (variant: string) => results.find(({ condition }) => condition === variant)!
  const percent = (value: number) => `${twoDecimals(value)} %`
  const both = [...of('full').runs, ...of('final-reward-only').runs]
  const cells = rows.map((row): Cell[] => {
    const { report, runs } = of(row.variant)
    return [
      textCell(row.variant),
      figure(row.score, twoDecimals, { runs, mark: row.scoreMark ?? undefined }),
      { value: row.scoreChange, text: row.scoreChangeText ?? '–', runs },
      { value: row.tokens, text: row.tokensText, mark: row.tokensMark ?? undefined, runs },
      { value: row.tokenChange, text: row.tokenChangeText ?? '–', runs },
      figure(report.n, String, { runs }),
      { value: null, text: intervalText(report), runs },
      differenceCell(of(row.variant), of('full')),
    ]
  })
  const last: Cell[] = [
    textCell('full compared with final-reward-only'),
    textCell(''),
    figure(against.score, twoDecimals, { runs: both }),
    textCell(''),
    figure(against.tokens, percent, { runs: both }),
    textCell(''),
    textCell(''),
    differenceCell(of('full'), of('final-reward-only')),
  ]
  return {
    id: `q2-${set}`,
    title: `Q2 on ${title}: ${metric} and tokens of the evaluation, seed ${seed}`,
    source: 'measured',
    columns: [...columns, 'n', '95 % interval', 'change [95 %]'],
    rows: [...cells, last],
    notes: [pairedNote, ...unknownNotes(results)],
  }
}

function quotedTable(set: string): ReportTable[] {
  const paper = (quoted.q2 as Record<string, (typeof quoted.q2)['mmlu_pro'] | undefined>)[set]
  if (paper === undefined) return []
  const change = (value: number | null, unit = '') =>
    figure(value, (one) => `${one > 0 ? '↑' : '↓'}${twoDecimals(Math.abs(one))}${unit}`)
  return [
    {
      id: `q2-${set}-quoted`,
      title: `Q2 on ${set} as reported in the paper`,
      source: 'quoted',
      columns,
      rows: [
        ...q2Variants.map((variant) => {
          const { score, score_change, tokens_text, token_change } = paper.rows[variant]
          return [
            textCell(variant),
            figure(score, twoDecimals),
            change(score_change),
            textCell(tokens_text),
            change(token_change, '%'),
          ]
        }),
        [
          textCell('full compared with final-reward-only'),
          textCell(''),
          change(paper.full_against_final_reward_only.score),
          textCell(''),
          change(paper.full_against_final_reward_only.tokens, '%'),
        ],
      ],
    },
  ]
}
