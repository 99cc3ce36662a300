import { existsSync } from 'node:fs'
import { Problem } from '../../problem.ts'
import { readLines } from '../../store/durable-file.ts'
import type { TrajectoryRecord } from '../../training/update-record.ts'
import type { Laboratory } from '../laboratory.ts'
import { twoDecimals } from '../measures/displayed.ts'
import { quoted } from '../report/quoted.ts'
import { type Cell, type Figure, figure, type ReportTable, textCell } from '../report/tables.ts'
import { d3Settings as settings } from '../settings.ts'
import { d3Statistics, type SignalCounts } from '../tables/d3-statistics.ts'
import type { ExperimentDefinition, StudyOptions } from './definition.ts'

interface Diagnosed {
  readonly set: string
  readonly title: string
  readonly statistics: ReturnType<typeof d3Statistics>
  readonly runs: readonly string[]
}

export const d3: ExperimentDefinition = {
  settings,
  async conduct(lab, options) {
    const diagnosed =
      options.from === undefined
        ? await trainAll(lab, options)
        : [
            {
              set: 'recorded',
              title: options.from,
              statistics: statisticsOf(options.from),
              runs: [options.from],
            },
          ]
    return {
      tables: [mainTable(diagnosed), positionTable(diagnosed), setsTable(diagnosed), quotedTable()],
      figures: [bars(diagnosed)],
      decisions: [
        'The 30 questions are Random(42).sample of the pool, sorted; the paper does not say which.',
        'The seed is 42; the temperature falls over the 30 updates.',
        'An empty set is N/A, not 0. Counts are summed over all updates before a ratio is taken.',
      ],
    }
  },
}

async function trainAll(lab: Laboratory, { tasks, seeds, training }: StudyOptions): Promise<Diagnosed[]> {
  const diagnosed: Diagnosed[] = []
  for (const name of tasks) {
    const opened = await lab.open(name, settings.study)
    const { set } = opened
    const given = { ...settings.training, ...training, seed: seeds[0]! }
    const folder = await lab.train(`${set.name}-${seeds[0]}-credit`, opened, given)
    const statistics = statisticsOf(folder.trajectoriesFile, folder.readRecord().training.maxUnits)
    diagnosed.push({ set: set.name, title: set.title, statistics, runs: [lab.place(folder.path)] })
  }
  return diagnosed
}

/** Computes the statistics from a run's `trajectories.jsonl`. */
function statisticsOf(file: string, units?: number) {
  if (!existsSync(file)) throw new Problem(`There is no file ${file}. Name a run's trajectories.jsonl.`)
  const groups = (readLines(file) as TrajectoryRecord[]).map(({ trajectories }) => trajectories)
  const all = groups.flat()
  if (all.length === 0 || all.some((one) => !Array.isArray(one?.transitions)))
    throw new Problem(`${file} holds no trajectories. Name a run's trajectories.jsonl.`)
  const unfit = all.find(
    ({ settings: { eta, callPenalty, tokenPenalty } }) =>
      eta !== 1 || callPenalty !== 0 || tokenPenalty !== 0,
  )
  if (unfit !== undefined)
    throw new Problem(
      `${file} was recorded with a discount other than 1 or with call or token penalties: its returns are not scores.`,
    )
  // A record does not tell the unit limit: it is where STOPs were forced, else above all of them.
  const sizes = all.map(({ transitions }) => transitions.length)
  const forced = all.find(({ forcedStop }) => forcedStop)?.transitions.length
  const stored = groups.map((group) =>
    group.map((trajectory) => ({
      rewards: trajectory.transitions.map(({ reward }) => reward),
      terminalReward: trajectory.terminal_reward,
      terminalShapingReward: trajectory.terminal_shaping_reward,
      forcedStop: trajectory.forcedStop,
    })),
  )
  return d3Statistics(stored, units ?? forced ?? Math.max(...sizes) + 1)
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
    title: 'D3: intermediate additions with a non-zero advantage, and equal-score pairs told apart',
    source: 'measured',
    columns,
    rows: diagnosed.map(({ title, statistics: { intermediateAdd: add, pairs }, runs }) => [
      textCell(title),
      share(add.terminalNonzero, add.actions, add.terminalRate, runs),
      share(add.denseNonzero, add.actions, add.denseRate, runs),
      share(pairs.distinguished, pairs.eligible, pairs.rate, runs),
    ]),
    notes: ['A larger share of non-zero advantages says that a signal is there, not that it is right.'],
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
    title: 'D3: decisions reported apart',
    source: 'measured',
    columns: ['data set', 'decisions', 'actions', 'terminal-only', 'dense'],
    rows: diagnosed.flatMap(({ title, statistics, runs }) => [
      countsRow([title, 'initial'], statistics.initial, runs),
      countsRow([title, 'later STOPs, sampled'], statistics.sampledStop, runs),
      countsRow([title, 'later STOPs, forced'], statistics.forcedStop, runs),
    ]),
  }
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
        { name: 'terminal-only', value: (add.terminalRate ?? 0) * 100 },
        { name: 'dense', value: (add.denseRate ?? 0) * 100 },
      ],
    })),
  }
}

function quotedTable(): ReportTable {
  return {
    id: 'd3-quoted',
    title: 'D3 as the paper quotes it',
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
