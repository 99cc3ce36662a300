import { directOrganisation } from '../../evaluation/organisation.ts'
import { topology, topologyNames } from '../../organisations/topologies.ts'
import { type ConditionResult, conduct } from '../conditions.ts'
import { tokensText, twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { q4Settings as settings } from '../settings.ts'
import type { ExperimentDefinition } from './definition.ts'
import { evaluationTables, frontierOf } from './shared-tables.ts'

export const q4: ExperimentDefinition = {
  settings,
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
      tables: [...bySet.map(frontierTable), ...evaluationTables(results), quotedTable()],
      figures: bySet.map(panel),
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

const tokensOf = ({ report }: ConditionResult) => report.usage.input + report.usage.output

function frontierTable(results: readonly ConditionResult[]): ReportTable {
  const { set, title, metric } = results[0]!
  const { dominated } = frontierOf(results, tokensOf)
  const magic = tokensOf(results.find(({ condition }) => condition === 'MAGIC')!)
  return {
    id: `q4-${set}`,
    title: `Q4 on ${title}`,
    source: 'measured',
    columns: [
      'organisation',
      metric,
      'tokens',
      'tokens relative to MAGIC',
      'on the frontier, or dominated by',
    ],
    rows: results.map((one) => [
      textCell(one.condition),
      figure(one.report.score.mean * 100, twoDecimals, { runs: one.runs }),
      figure(tokensOf(one), tokensText, { runs: one.runs }),
      figure(magic === 0 ? null : tokensOf(one) / magic, twoDecimals, { runs: one.runs }),
      textCell(dominated[one.condition]?.join(', ') ?? 'frontier'),
    ]),
  }
}

function panel(results: readonly ConditionResult[]): Figure {
  const { set, title, metric } = results[0]!
  const point = (one: ConditionResult) => ({
    x: tokensOf(one),
    y: one.report.score.mean * 100,
    label: one.condition,
  })
  const { frontier } = frontierOf(results, tokensOf)
  const onFrontier = frontier.map((name) => results.find(({ condition }) => condition === name)!)
  return {
    id: `q4-${set}`,
    title: `${title}: ${metric} against tokens`,
    x: 'tokens of the evaluation',
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
