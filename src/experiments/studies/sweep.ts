import { matchBudget } from '../../evaluation/matched-budget.ts'
import { chainOrganisation, directOrganisation } from '../../evaluation/organisation.ts'
import { trainingSettings } from '../../settings/training.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { sweepSettings as settings } from '../settings.ts'
import type { ExperimentDefinition } from './definition.ts'
import { seedTables } from './seeds.ts'
import { differenceNotes, evaluationTables, frontierOf, intervalText } from './shared-tables.ts'

/** Beyond the paper: policies trained at growing prices of a token, with fixed organisations at matched budget. */
export const sweep: ExperimentDefinition = {
  settings,
  comparison: ({ tasks, seeds, training }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      ...settings.tokenPenalties.map((tokenPenalty) => ({
        id: `penalty-${tokenPenalty}`,
        training: { rewards: { tokenPenalty } },
      })),
      { id: 'direct', organisation: () => directOrganisation() },
      ...[2, 3].map((maxUnits) => ({
        id: `chain-${maxUnits}`,
        organisation: ({ library }: { readonly library: Parameters<typeof chainOrganisation>[0] }) => ({
          ...chainOrganisation(library, { maxUnits, maxDepth: trainingSettings.parse({}).maxDepth }),
          name: `chain-${maxUnits}`,
        }),
      })),
    ],
  }),
  async conduct(lab, options) {
    const results = await conduct(lab, this.comparison!(options))
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    const bySet = [...Map.groupBy(first, ({ set }) => set).values()]
    return {
      tables: [
        ...bySet.flatMap((own) => [pointTable(own), matchedTable(own)]),
        ...seedTables(results, 'penalty-0'),
        ...evaluationTables(results),
      ],
      figures: bySet.map(panel),
      decisions: [
        'The penalty changes the terminal reward: what shaping then preserves is the penalised score.',
        'Matched budget: of a method the setting that fits the tokens per question and uses most of it, and the next one above.',
      ],
    }
  },
}

const perQuestion = ({ report }: ConditionResult) => report.tokens.total

function pointTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric } = results[0]!
  const { dominated } = frontierOf(results, perQuestion)
  return {
    id: `sweep-${set}`,
    title: `Cost–quality sweep on ${title}`,
    source: 'measured',
    columns: [
      'organisation',
      metric,
      '95 % interval',
      'tokens per question',
      'on the frontier, or dominated by',
    ],
    rows: results.map((one) => [
      textCell(one.condition),
      figure(one.report.score.mean * 100, twoDecimals, { runs: one.runs }),
      textCell(intervalText(one.report)),
      figure(perQuestion(one), tokensText, { runs: one.runs }),
      textCell(dominated[one.condition]?.join(', ') ?? 'frontier'),
    ]),
    notes: differenceNotes(results, 'penalty-0'),
  }
}

/** What fixed organisations reach with no more tokens per question than each policy. */
function matchedTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric } = results[0]!
  const fixed = results.filter(({ condition }) => !condition.startsWith('penalty'))
  const policies = results.filter(({ condition }) => condition.startsWith('penalty'))
  // A chain's setting is its length; the direct answer is a chain of none.
  const chains = fixed.map((one, index) => ({
    setting: index,
    tokens: perQuestion(one),
    score: one.report.score.mean,
  }))
  const named = (setting: number | null) => {
    const one = setting === null ? undefined : fixed[setting]
    if (one === undefined) return textCell('none')
    const score = one.report.score.mean * 100
    const shown = `${one.condition}: ${twoDecimals(score)} at ${Math.round(perQuestion(one))}`
    return { value: score, text: shown, runs: one.runs }
  }
  return {
    id: `matched-${set}`,
    title: `Matched budget on ${title}`,
    source: 'measured',
    columns: ['policy', metric, 'tokens per question', 'within its budget', 'share of it', 'next above'],
    rows: policies.map((policy) => {
      const { within, share, above } = matchBudget(perQuestion(policy), chains)
      return [
        textCell(policy.condition),
        figure(policy.report.score.mean * 100, twoDecimals, { runs: policy.runs }),
        figure(perQuestion(policy), (one) => String(Math.round(one)), { runs: policy.runs }),
        named(within),
        figure(share, twoDecimals),
        named(above),
      ]
    }),
  }
}

function panel(results: readonly ConditionResult[]): Figure {
  const { set, title, metric } = results[0]!
  const point = (one: ConditionResult) => ({
    x: perQuestion(one),
    y: one.report.score.mean * 100,
    label: one.condition,
  })
  const onFrontier = frontierOf(results, perQuestion).frontier.map(
    (name) => results.find(({ condition }) => condition === name)!,
  )
  return {
    id: `sweep-${set}`,
    title: `${title}: ${metric} against tokens per question`,
    x: 'tokens per question',
    y: metric,
    series: [
      { name: 'organisations', points: results.map(point), line: false },
      {
        name: 'frontier',
        points: onFrontier.map((one) => ({ ...point(one), label: undefined })),
        line: true,
      },
    ],
  }
}
