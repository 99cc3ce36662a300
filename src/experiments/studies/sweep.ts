import { chainOrganisation, directOrganisation } from '../../evaluation/baseline-organisations.ts'
import { type GivenTrainingSettings, trainingSettings } from '../../settings/training.ts'
import { type Condition, type ConditionResult, conduct } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { sweepSettings as settings } from '../settings.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { matchedBudgetTables, perQuestion } from './matched-budget.ts'
import { seedTables } from './seeds.ts'
import {
  differenceCell,
  evaluationTables,
  frontierCell,
  frontierFigure,
  frontierOf,
  intervalText,
  pairedNote,
  unknownNotes,
} from './shared-tables.ts'

/** The baseline policy. */
const base = 'no-penalty'

const chains = [2, 3]

/**
 * Beyond the paper: policies trained with increasing penalties on tokens or calls, and fixed organisations at matched
 * budget.
 */
export const sweep: ExperimentDefinition = {
  settings,
  takesSeeds: true,
  comparison: ({ tasks, seeds, training, penalties }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      ...penalised(penalties ?? settings.penalties, training),
      { id: 'direct', organisation: () => directOrganisation() },
      ...chains.map((maxUnits) => ({
        id: `chain-${maxUnits}`,
        organisation: ({ library }: { readonly library: Parameters<typeof chainOrganisation>[0] }) => ({
          ...chainOrganisation(library, { maxUnits, maxDepth: trainingSettings.parse({}).maxDepth }),
          name: `chain-${maxUnits}`,
        }),
      })),
    ],
  }),
  async conduct(lab, options) {
    const comparison = this.comparison!(options)
    const results = await conduct(lab, comparison)
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    const bySet = [...Map.groupBy(first, ({ set }) => set).values()]
    return {
      tables: [
        ...bySet.map(pointTable),
        ...(await matchedBudgetTables(lab, comparison, options.tasks, first)),
        ...seedTables(results, base),
        ...evaluationTables(results, base),
      ],
      figures: bySet.map((own) =>
        frontierFigure(own, { id: `sweep-${own[0]!.set}`, x: 'tokens per question' }, perQuestion),
      ),
      decisions: [
        'The penalty is subtracted from the terminal reward per token or per call of the final graph; shaping then preserves the penalised score.',
      ],
    }
  },
}

/** A policy per penalty, and one without. */
function penalised(
  penalties: NonNullable<StudyOptions['penalties']>,
  { rewards }: GivenTrainingSettings,
): Condition[] {
  const each = ([kind, field]: readonly ['tokens' | 'calls', 'tokenPenalty' | 'callPenalty']) =>
    (penalties[kind] ?? [])
      .filter((weight) => weight > 0)
      .map((weight) => ({
        id: `${kind}-${weight.toExponential()}`,
        training: { rewards: { ...rewards, [field]: weight } },
      }))
  return [{ id: base, training: {} }, ...each(['tokens', 'tokenPenalty']), ...each(['calls', 'callPenalty'])]
}

function pointTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric } = results[0]!
  const frontier = frontierOf(results, perQuestion)
  const unpenalised = results.find(({ condition }) => condition === base)
  return {
    id: `sweep-${set}`,
    title: `Cost–quality sweep on ${title}`,
    source: 'measured',
    columns: [
      ...['organisation', metric, 'n', '95 % interval', `difference from ${base} [95 %]`],
      ...['tokens per question', 'calls per question', 'on the frontier, or dominated by'],
    ],
    rows: results.map((one) => {
      const { condition, report, runs } = one
      return [
        textCell(condition),
        figure(report.score.mean * 100, twoDecimals, { runs }),
        figure(report.n, String),
        textCell(intervalText(report)),
        differenceCell(one, unpenalised),
        figure(perQuestion(one), tokensText, { runs }),
        figure(report.calls, twoDecimals, { runs }),
        frontierCell(frontier, condition),
      ]
    }),
    notes: [pairedNote, ...unknownNotes(results)],
  }
}
