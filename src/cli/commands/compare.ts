import { type Command, Option } from 'commander'
import {
  baseOf,
  type ComparedEvaluation,
  compareEvaluations,
  type KeptEvaluation,
  keptEvaluations,
  type Listing,
  latestEvaluations,
  listings,
} from '../../evaluation/compare-evaluations.ts'
import { matchedRows } from '../../experiments/measures/matched-tokens.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { type DifferingSetting, differingSettings } from '../../store/differing-settings.ts'
import type { RunRecord } from '../../store/run-folder.ts'
import { differenceWithInterval } from '../display/numbers.ts'
import { type ShownTable, tableLines } from '../display/table.ts'
import { NotedCommand } from '../help-notes.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { evaluationTable, simulatedNote } from '../views/evaluation-table.ts'
import { listedQuestions, listLines } from '../views/listed-questions.ts'
import { matchedTable } from '../views/matched-table.ts'

interface CompareOptions {
  readonly split: string
  readonly base?: string
  readonly organisation?: readonly string[]
  readonly list?: Listing
  readonly transcript: boolean
  readonly runsDir?: string
  readonly json: boolean
}

export function compareCommand(): Command {
  return new NotedCommand('compare')
    .description('Compare stored evaluations of one or more runs, question by question.')
    .argument('<runs...>', 'names or folders of runs')
    .option('--split <name>', 'which questions were evaluated', 'test')
    .option('--base <name>', 'compare with this run, organisation, or both, as in "first: trained"')
    .addOption(
      new Option('--organisation <names>', 'compare only these with the base, separated by commas').argParser(
        (names: string) => names.split(',').map((name) => name.trim()),
      ),
    )
    .addOption(
      new Option(
        '--list <which>',
        'also list the questions won or lost against the base, with answers and graphs',
      ).choices(listings),
    )
    .option('--transcript', 'with --list: show every request and reply', false)
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic compare first', 'all organisations evaluated for a run'],
        ['magic compare first second', 'two runs, and their differing settings'],
        ['magic compare first --base direct', 'against a single model call'],
        ['magic compare first --base direct --list lost', 'questions a single call answers better'],
        ['magic compare first --base direct --organisation trained --list lost'],
      ],
      notes: [
        'The difference is the mean over the questions both have, in percentage points, with a 95 % interval by paired bootstrap. If the interval excludes 0, chance is an unlikely explanation. `detectable` is the smallest difference that this many questions reveal in four evaluations out of five; for a smaller one, ask more questions. `won`, `lost` and `tied` count questions; `tokens` is a multiple of the base.',
        "Without --base, several runs are compared with the first run's trained policy, and organisations of one run with its untrained policy.",
      ],
    })
    .action(compare)
}

interface ComparedRun {
  readonly record: RunRecord
  readonly evaluations: readonly KeptEvaluation[]
}

async function compare(names: readonly string[], options: CompareOptions): Promise<void> {
  const { split } = options
  const runs = [...new Set(names)].map((name) => readRun(name, options))
  const all = runs.flatMap((run) => run.evaluations)
  const other = all[baseOf(all, options.base)]!
  const evaluations = chosenOf(all, other, options)
  const base = evaluations.indexOf(other)
  const rows = compareEvaluations(evaluations, base)
  // Leaves out what cannot change a number, such as the run's name and start time.
  const settings = differingSettings(
    runs.map(
      ({ record: { name: _, createdAt: __, source: ___, format: ____, executors: _____, ...rest } }) => rest,
    ),
  )
  const { metric } = runs[0]!.record.tasks
  if (options.transcript && options.list === undefined) throw new UsageError('--transcript needs --list.')
  const listed = options.list && (await listedQuestions(rows, base, options.list, options.transcript))
  const labelled = rows.map(({ label, evaluation: { report, header } }) => {
    return { label, report, isSimulated: isSimulatedModel(header.model) }
  })
  const matched = matchedRows(labelled)
  printResult(
    options,
    {
      ...{ split, metric, data: rows[0]!.evaluation.header.data, base: rows[base]!.label },
      evaluations: rows.map(({ evaluation: { run, folder, header }, ...row }) => {
        const { about, model } = header
        return { ...row, run, folder, about, model, simulated: isSimulatedModel(model) }
      }),
      matched,
      listed,
      settings: settings.map(({ name, values }) => ({
        name,
        values: Object.fromEntries(runs.map((run, position) => [run.record.name, values[position] ?? null])),
      })),
    },
    (screen) => {
      const section = (title: string, table: ShownTable) => [
        screen.paint('bold', title),
        ...tableLines(table, screen),
        '',
      ]
      const scores = { ...evaluationTable(labelled, metric), emphasised: base }
      const title = `Difference from ${rows[base]!.label}, in percentage points`
      return [
        section(`Scores on ${split} questions`, scores),
        rows.length > 1 && section(title, differenceTable(rows, base)),
        matched.length > 0 && section('At matched tokens', matchedTable(matched)),
        settings.length > 0 && section('Settings that differ', settingsTable(settings, runs)),
        runs.length > 1 && settings.length === 0 && ['The settings are the same.', ''],
        listed?.map((one) => [listLines(one, screen), '']),
        labelled.some(({ isSimulated }) => isSimulated) && simulatedNote,
      ]
    },
  )
}

/** The requested organisations, and the base. */
function chosenOf(
  all: readonly KeptEvaluation[],
  base: KeptEvaluation,
  { organisation: wanted }: CompareOptions,
): readonly KeptEvaluation[] {
  if (wanted === undefined) return all
  const names = new Set(all.map(({ header }) => header.organisation))
  const unknown = wanted.find((name) => !names.has(name))
  if (unknown !== undefined)
    throw new UsageError(`There is no evaluation of '${unknown}'. Evaluated: ${[...names].join(', ')}.`)
  return all.filter((one) => one === base || wanted.includes(one.header.organisation))
}

function readRun(name: string, { split, runsDir }: CompareOptions): ComparedRun {
  const folder = existingRun(name, runsDir)
  const record = folder.readRecord()
  const all = keptEvaluations(folder, record.name)
  const evaluations = latestEvaluations(all.filter(({ header }) => header.split === split))
  if (evaluations.length > 0) return { record, evaluations }
  const others = [...new Set(all.map(({ header }) => header.split))]
  const there = others.length === 0 ? '' : ` It has evaluations on ${others.join(', ')}.`
  throw new UsageError(
    `Run ${name} has no evaluation on '${split}' questions.${there} Make one: \`magic eval ${name} --split ${split}\`.`,
  )
}

function differenceTable(rows: readonly ComparedEvaluation[], base: number): ShownTable {
  return {
    columns: ['organisation', 'difference [95 %]', 'detectable', 'won', 'lost', 'tied', 'tokens'],
    rows: rows.toSpliced(base, 1).map(({ label, against }) => {
      if (against === undefined) return [label, 'no question in common']
      const { difference: mean, low, high, detectable, wins, losses, ties, tokenRatio } = against
      const ratio = tokenRatio === undefined ? '–' : `${tokenRatio.toFixed(tokenRatio < 9.995 ? 2 : 1)}×`
      const shown = (detectable * 100).toFixed(1)
      return [
        ...[label, differenceWithInterval({ mean, low, high }), shown],
        ...[`${wins}`, `${losses}`, `${ties}`, ratio],
      ]
    }),
  }
}

function settingsTable(settings: readonly DifferingSetting[], runs: readonly ComparedRun[]): ShownTable {
  return {
    columns: ['setting', ...runs.map(({ record }) => record.name)],
    texts: [0, ...runs.map((_, position) => position + 1)],
    rows: settings.map(({ name, values }) => [name, ...values.map(settingText)]),
  }
}

function settingText(value: DifferingSetting['values'][number]): string {
  if (value === undefined) return '–'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[0-9a-f]{64}$/.test(text) ? text.slice(0, 12) : text
}
