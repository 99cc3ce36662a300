import { Problem } from '../../problem.ts'
import { trainingSettings } from '../../settings/training.ts'
import type { Laboratory } from '../laboratory.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { type PlannedStep, trainingSteps } from '../plan.ts'
import { quoted } from '../report/quoted.ts'
import { type Cell, type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { d3Settings as settings } from '../settings.ts'
import type { d3Statistics, SignalCounts } from '../tables/d3-statistics.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'
import { isOfSimulatedRun, recordedCredit } from './recorded-credit.ts'

interface Diagnosed {
  readonly set: string
  readonly title: string
  readonly statistics: ReturnType<typeof d3Statistics>
  readonly runs: readonly string[]
}

export const d3: ExperimentDefinition = {
  settings,
  async plan(lab, { tasks, training }) {
    const steps: PlannedStep[] = []
    for (const name of tasks) {
      const opened = await lab.open(name, settings.study)
      const given = { ...settings.training, ...training }
      steps.push(...(await trainingSteps(lab, opened, opened.set.name, given, 1)))
    }
    return steps
  },
  async conduct(lab, options) {
    const diagnosed =
      options.from === undefined
        ? await trainAll(lab, options)
        : [
            {
              set: 'recorded',
              title: options.from,
              statistics: recordedCredit(options.from),
              runs: [options.from],
            },
          ]
    return {
      ...(options.from === undefined ? {} : { simulated: isOfSimulatedRun(options.from) }),
      tables: [mainTable(diagnosed), positionTable(diagnosed), setsTable(diagnosed), quotedTable()],
      figures: [bars(diagnosed)],
      decisions: [
        'The 30 questions are Random(42).sample of the pool, sorted; the paper does not name its own.',
        'The seed is 42; the temperature falls over the 30 updates.',
        'An empty set is N/A, not 0. Counts are summed over all updates before ratios are computed.',
      ],
    }
  },
}

async function trainAll(lab: Laboratory, { tasks, seeds, training }: StudyOptions): Promise<Diagnosed[]> {
  const { eta, callPenalty, tokenPenalty } = trainingSettings.parse(training).rewards
  if (eta !== 1 || callPenalty !== 0 || tokenPenalty !== 0)
    throw new Problem(
      'D3 needs a discount of 1 and no call or token penalty; otherwise returns are not scores.',
    )
  const diagnosed: Diagnosed[] = []
  for (const name of tasks) {
    const opened = await lab.open(name, settings.study)
    const { set } = opened
    const given = { ...settings.training, ...training, seed: seeds[0]! }
    const folder = await lab.train(`${set.name}-${seeds[0]}-credit`, opened, given)
    const statistics = recordedCredit(folder.trajectoriesFile)
    diagnosed.push({ set: set.name, title: set.title, statistics, runs: [lab.place(folder.path)] })
  }
  return diagnosed
}

const percent = (rate: number) => `${twoDecimals(rate * 100)} %`
const share = (part: number, of: number, rate: number | null, runs: readonly string[]): Cell => ({
  value: rate,
  text: rate === null ? `${part}/${of} (N/A)` : `${part}/${of} (${percent(rate)})`,
  runs,
})

const columns = ['data set', 'terminal-only', 'dense', 'distinguished / eligible']

function mainTable(diagnosed: readonly Diagnosed[]): ReportTable {
  return {
    id: 'd3',
    title:
      'D3: intermediate additions with a non-zero advantage, and equal-score pairs that dense returns distinguish',
    source: 'measured',
    columns,
    rows: diagnosed.map(({ title, statistics: { intermediateAdd: add, pairs }, runs }) => [
      textCell(title),
      share(add.terminalNonzero, add.actions, add.terminalRate, runs),
      share(add.denseNonzero, add.actions, add.denseRate, runs),
      share(pairs.distinguished, pairs.eligible, pairs.rate, runs),
    ]),
    notes: ['A larger share of non-zero advantages shows that there is a signal, not that it is right.'],
  }
}

function countsRow(name: readonly string[], counts: SignalCounts, runs: readonly string[]): Cell[] {
  return [
    ...name.map(textCell),
    figure(counts.actions, String, { runs }),
    share(counts.terminalNonzero, counts.actions, counts.terminalRate, runs),
    share(counts.denseNonzero, counts.actions, counts.denseRate, runs),
  ]
}

function positionTable(diagnosed: readonly Diagnosed[]): ReportTable {
  return {
    id: 'd3-positions',
    title: 'D3: intermediate additions by position',
    source: 'measured',
    columns: ['data set', 'position', 'actions', 'terminal-only', 'dense'],
    rows: diagnosed.flatMap(({ title, statistics, runs }) =>
      statistics.byPosition.map((at) => countsRow([title, String(at.position)], at, runs)),
    ),
  }
}

function setsTable(diagnosed: readonly Diagnosed[]): ReportTable {
  return {
    id: 'd3-sets',
    title: 'D3: other decisions',
    source: 'measured',
    columns: ['data set', 'decisions', 'actions', 'terminal-only', 'dense'],
    rows: diagnosed.flatMap(({ title, statistics, runs }) => [
      countsRow([title, 'initial'], statistics.initial, runs),
      countsRow([title, 'later STOPs, sampled'], statistics.sampledStop, runs),
      countsRow([title, 'later STOPs, forced'], statistics.forcedStop, runs),
    ]),
  }
}

function inPercent(rate: number | null): number | null {
  return rate === null ? null : rate * 100
}

function bars(diagnosed: readonly Diagnosed[]): Figure {
  return {
    id: 'd3',
    title: 'Intermediate additions with a non-zero advantage',
    x: '',
    y: 'percent',
    series: [],
    bars: diagnosed.map(({ title, statistics: { intermediateAdd: add } }) => ({
      group: title,
      bars: [
        { name: 'terminal-only', value: inPercent(add.terminalRate) },
        { name: 'dense', value: inPercent(add.denseRate) },
      ],
    })),
  }
}

function quotedTable(): ReportTable {
  return {
    id: 'd3-quoted',
    title: 'D3 as reported in the paper',
    source: 'quoted',
    columns,
    rows: Object.entries(quoted.d3.rows).map(([set, row]) => [
      textCell(set),
      textCell(`${row.terminal_nonzero}/${row.actions} (${twoDecimals(row.terminal_percent)} %)`),
      textCell(`${row.dense_nonzero}/${row.actions} (${twoDecimals(row.dense_percent)} %)`),
      textCell(`${row.distinguished}/${row.eligible} (${twoDecimals(row.pair_percent)} %)`),
    ]),
  }
}
