import { directOrganisation } from '../../evaluation/organisation.ts'
import { topology, topologyNames } from '../../organisations/topologies.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { figure, type ReportTable, textCell } from '../report/tables.ts'
import { q4Settings as settings } from '../settings.ts'
import type { ExperimentDefinition } from './definition.ts'
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
  comparison: ({ tasks, seeds, training }) => ({
    tasks,
    seeds,
    study: settings.study,
    training: { ...settings.training, ...training },
    conditions: [
      // As in Q1, so that an experiment in the same folder reuses it.
      { id: 'direct', organisation: () => directOrganisation() },
      { id: 'MAGIC', training: {} },
      ...topologyNames.map((name) => ({
        id: name,
        organisation: ({ library }: Parameters<typeof organisationOf>[1], seed: number) =>
          organisationOf(name, { library }, seed),
      })),
    ],
  }),
  async conduct(lab, options) {
    const results = await conduct(lab, this.comparison!(options))
    const first = results.filter(({ seed }) => seed === options.seeds[0])
    const bySet = [...Map.groupBy(first, ({ set }) => set).values()]
    return {
      tables: [
        ...bySet.map(frontierTable),
        ...seedTables(results, 'MAGIC'),
        ...evaluationTables(results, 'MAGIC'),
        quotedTable(),
      ],
      figures: bySet.map((own) =>
        frontierFigure(own, { id: `q4-${own[0]!.set}`, x: 'tokens of the evaluation' }),
      ),
      decisions: [
        `Chain, Complete, Random and Tree have ${settings.topologyUnits} atomic units of the first roles of the profile; the paper gives neither sizes nor rules.`,
        'Tokens are those of the evaluation; training is apart. Equal points are on the frontier together.',
        'The other organisations of the paper are not measured here.',
      ],
    }
  },
}

function organisationOf(
  name: (typeof topologyNames)[number],
  { library }: { readonly library: Parameters<typeof topology>[1] },
  seed: number,
) {
  return topology(name, library, settings.topologyUnits, seed)
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
      ...['organisation', metric, 'n', '95 % interval', 'tokens', 'tokens relative to MAGIC'],
      'on the frontier, or dominated by',
    ],
    rows: results.map((one) => {
      const { condition, report, runs } = one
      const tokens = totalTokens(one)
      return [
        textCell(condition),
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
    title: 'Q4 as the paper tells it; token figures are only in its figure',
    source: 'quoted',
    columns: ['benchmark', 'MAGIC on the frontier', 'MAGIC with the fewest tokens'],
    rows: benchmarks.map((name) => [
      textCell(name),
      textCell(on_frontier.includes(name) ? 'yes' : 'no'),
      textCell(fewest_tokens.includes(name) ? 'yes' : 'no'),
    ]),
    notes: [
      `GSM8K: Chain is cheaper, at ${twoDecimals(-gsm8k_chain.score_difference)} points less (${twoDecimals(gsm8k_chain.score)}).`,
    ],
  }
}
