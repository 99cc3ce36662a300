import { type Comparison, comparableEvaluations, comparison } from '../../view/comparison.ts'
import type { FollowedRun } from '../../view/followed-run.ts'
import { differencePlot } from '../../view/plots/difference-plot.ts'
import { graphPlot } from '../../view/plots/graph-plot.ts'
import { heatMap } from '../../view/plots/heat-map.ts'
import { linePlot } from '../../view/plots/line-plot.ts'
import { scatterPlot } from '../../view/plots/scatter-plot.ts'
import type { SvgElement } from '../../view/plots/svg.ts'
import { kindRows } from '../../view/questions.ts'
import { type RunCurves, type RunDetail, runCurves, runDetail } from '../../view/run-detail.ts'
import type { RunTasks } from '../../view/run-tasks.ts'
import { differenceWithInterval, duration, percent, scoreWithInterval, tokens } from '../display/numbers.ts'
import { counted } from '../display/terminal-text.ts'
import { costText } from './evaluation-table.ts'

/** One part of a report, independent of the format. All texts are plain. */
export type ReportBlock =
  | { readonly heading: string; readonly level: 1 | 2 | 3 }
  | { readonly text: string }
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  /** Small plots, side by side. */
  | {
      readonly plots: readonly {
        readonly caption: string
        readonly plot: SvgElement
        readonly hasTitle?: true
      }[]
    }

/** What the dashboard shows of the runs, in reading order. */
export async function reportBlocks(
  runs: readonly FollowedRun[],
  tasksOf: (run: FollowedRun) => Promise<RunTasks>,
): Promise<ReportBlock[]> {
  const blocks: ReportBlock[] = [
    { heading: runs.map(({ name }) => name).join(', '), level: 1 },
    { text: `Made on ${new Date().toISOString().slice(0, 10)} from the run folders.` },
  ]
  for (const run of runs) blocks.push(...runBlocks(run, await tasksOf(run)))
  return [...blocks, ...comparisonBlocks(runs)]
}

function runBlocks(run: FollowedRun, tasks: RunTasks): ReportBlock[] {
  const detail = runDetail(run)
  const curves = runCurves(run, 0)
  return [
    { heading: run.name, level: 2 },
    ...factBlocks(detail, run),
    ...(curves.update.length === 0 ? [] : curveBlocks(curves)),
    ...(detail.heat.rows.length === 0
      ? []
      : [
          {
            plots: [{ caption: 'Share of units by role and granularity', plot: heatMap(detail.heat) }],
          },
        ]),
    ...graphBlocks(detail),
    ...kindBlocks(run, tasks),
  ]
}

function factBlocks(
  { row, about, settings, tokens: used, retries }: RunDetail,
  run: FollowedRun,
): ReportBlock[] {
  if (row.status === 'damaged') return []
  const splits = Object.entries(about.tasks.splits).map(([split, { tasks }]) => `${tasks} ${split}`)
  const cost = row.cost === undefined ? 'nothing yet' : costText(row.cost, row.simulated)
  const departures = settings.filter(({ differs }) => differs)
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(value))
  return [
    {
      columns: ['', ''],
      rows: [
        ['tasks', `${about.tasks.title}, ${splits.join(' and ')} questions, ${about.tasks.metric}`],
        ['model', `${row.model}${row.simulated ? ': all scores are simulated' : ''}`],
        ['updates', `${row.done} of ${row.updates}, ${row.status}`],
        ['tokens', `${tokens(used.made)} made, ${tokens(used.reused)} reused`],
        ['calls', `${tokens(row.calls)}, and ${counted(retries, 'retry', 'retries')}`],
        ['cost', cost],
        ['time', duration(row.minutes * 60_000)],
        ['started', `${run.record.createdAt.slice(0, 16).replace('T', ' ')} UTC, version ${about.version}`],
      ],
    },
    ...(departures.length === 0
      ? [{ text: "All settings are the paper's." }]
      : [
          { heading: 'Settings that differ from the paper', level: 3 as const },
          {
            columns: ['setting', 'value', 'paper'],
            rows: departures.map(({ name, value, paper }) => [name, shown(value), shown(paper)]),
          },
        ]),
  ]
}

function curveBlocks(curves: RunCurves): ReportBlock[] {
  const fixed = (value: number) => value.toFixed(2)
  const curve = (
    caption: string,
    values: readonly (number | null)[],
    format: (value: number) => string = fixed,
  ) => ({
    caption,
    hasTitle: true as const,
    plot: linePlot({ title: caption, x: curves.update, lines: [{ name: caption, values }], format }),
  })
  return [
    { heading: 'Learning', level: 3 },
    {
      plots: [
        curve('score', curves.score, (value) => `${Math.round(value * 100)} %`),
        curve('return', curves.return),
        curve('entropy', curves.entropy),
        curve('KL', curves.divergence),
        curve('loss', curves.loss),
        curve('policy loss', curves.policyLoss),
        curve('temperature', curves.temperature),
        curve('tokens made', curves.made, tokens),
        curve('tokens reused', curves.reused, tokens),
      ],
    },
  ]
}

function graphBlocks({ graphs }: RunDetail): ReportBlock[] {
  return graphs.stages.flatMap((stage): ReportBlock[] => [
    { heading: `Graphs: ${stage.title.toLowerCase()}`, level: 3 },
    {
      text: `${counted(stage.different, 'different graph')}, score ${percent(stage.score)}${stage.tokens === undefined ? '' : `, ${tokens(stage.tokens)} tokens per question`}.`,
    },
    {
      plots: stage.graphs.slice(0, 4).map(({ units, count, score }) => ({
        caption: `Graph built ${count} of ${stage.total} times, score ${percent(score)}`,
        plot: graphPlot(units),
      })),
    },
  ])
}

function kindBlocks(run: FollowedRun, tasks: RunTasks): ReportBlock[] {
  const kinds = kindRows(run, tasks)
  if (kinds.length === 0) return []
  return [
    { heading: 'By kind of question, before and after training', level: 3 },
    {
      columns: ['kind', 'questions', 'score', 'tokens per question', 'units'],
      rows: kinds.map(({ kind, questions, before, after }) => [
        kind,
        String(questions),
        `${percent(before.score)} → ${percent(after.score)}`,
        `${tokens(before.tokens)} → ${tokens(after.tokens)}`,
        `${before.units.toFixed(1)} → ${after.units.toFixed(1)}`,
      ]),
    },
  ]
}

function comparisonBlocks(runs: readonly FollowedRun[]): ReportBlock[] {
  const splits = new Set(runs.flatMap(({ evaluations }) => evaluations.map(({ header }) => header.split)))
  return [...splits].flatMap((split): ReportBlock[] => {
    const groups = comparableEvaluations(runs, split)
    return groups.flatMap((evaluations) => {
      // Runs with other questions get their own section.
      const names =
        groups.length === 1 ? '' : `: ${[...new Set(evaluations.map(({ run }) => run))].join(', ')}`
      const heading = `Evaluations on ${split} questions${names}`
      return [{ heading, level: 2 }, ...evaluationBlocks(comparison(runs, split, undefined, evaluations))]
    })
  })
}

function evaluationBlocks({ rows, metric, base }: Comparison): ReportBlock[] {
  const points = rows.map(({ label, tokens: used, score }) => ({ label, tokens: used.total, score }))
  const perQuestion = ['tokens per question', 'calls']
  return [
    {
      columns: ['organisation', `${metric} [95 %]`, 'questions', ...perQuestion, 'cost', 'failed'],
      rows: rows.map((row) => [
        row.label,
        scoreWithInterval(row.score),
        row.complete ? String(row.n) : `${row.n} of ${row.total}`,
        tokens(row.tokens.total),
        row.calls.toFixed(1),
        costText(row.cost, row.simulated),
        String(row.failures.unanswered),
      ]),
    },
    {
      plots: [
        {
          caption: 'Score against tokens, with the Pareto frontier',
          plot: scatterPlot({ points, metric, formatTokens: tokens }),
        },
      ],
    },
    ...differenceBlocks(rows, base),
    ...(rows.some(({ simulated }) => simulated)
      ? [{ text: 'The scores are simulated: no language model was called.' }]
      : []),
  ]
}

function differenceBlocks(rows: Comparison['rows'], base: string): ReportBlock[] {
  const differences = rows.flatMap(({ label, against }) =>
    against === undefined ? [] : [{ label, ...against }],
  )
  if (differences.length === 0) return []
  return [
    { plots: [{ caption: `Paired differences to ${base}`, plot: differencePlot(differences, base) }] },
    {
      columns: ['organisation', `points against ${base}`, 'detectable', 'won', 'lost', 'tied'],
      rows: differences.map(({ label, difference: mean, low, high, detectable, wins, losses, ties }) => [
        label,
        differenceWithInterval({ mean, low, high }),
        (detectable * 100).toFixed(1),
        ...[wins, losses, ties].map(String),
      ]),
    },
    {
      text: 'Detectable: the smallest difference that this many questions reveal in four evaluations out of five.',
    },
  ]
}
