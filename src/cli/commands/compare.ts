import { Command, Option } from 'commander'
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
  return new Command('compare')
    .description('Put stored evaluations of one or several runs side by side, question by question.')
    .argument('<runs...>', 'names or folders of runs')
    .option('--split <name>', 'questions of the evaluations', 'test')
    .option('--base <name>', 'what to compare with: a run, an organisation, or both as in "first: trained"')
    .addOption(
      new Option('--organisation <names>', 'only these beside the base, separated by commas').argParser(
        (names: string) => names.split(',').map((name) => name.trim()),
      ),
    )
    .addOption(
      new Option(
        '--list <which>',
        'also list questions that were won or lost against the base, with answers and graphs',
      ).choices(listings),
    )
    .option('--transcript', 'with --list: every request and reply behind the answers', false)
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic compare first                              the organisations that \`magic eval first\` was asked for
  magic compare first second                       two runs, and the settings that differ
  magic compare first --base direct
  magic compare first --base direct --list lost    the questions that a single call answers better
  magic compare first --base direct --organisation trained --list lost

The difference is the mean over the questions that both have, in percentage points, with a 95 % interval by paired
bootstrap; one that leaves out 0 is unlikely to be chance. detectable is the smallest difference that so many
questions show in four evaluations of five: a smaller one needs more questions. won, lost and tied count questions;
tokens are a multiple of the base's. Without --base, runs are compared with the trained policy of the first, and
organisations of one run with the untrained policy.`,
    )
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
  // Without what cannot change a number, such as a run's name or when it began.
  const settings = differingSettings(
    runs.map(
      ({ record: { name: _, createdAt: __, source: ___, format: ____, executors: _____, ...rest } }) => rest,
    ),
  )
  const { metric } = runs[0]!.record.tasks
  if (options.transcript && options.list === undefined) throw new UsageError('--transcript goes with --list.')
  const listed = options.list && (await listedQuestions(rows, base, options.list, options.transcript))
  const labelled = rows.map(({ label, evaluation: { report, header } }) => {
    return { label, report, isSimulated: isSimulatedModel(header.model) }
  })
  const matched = matchedRows(labelled)
  printResult(
    options,
    () => ({
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
    }),
    (screen) => {
      const section = (title: string, table: ShownTable) => [
        screen.paint('bold', title),
        ...tableLines(table, screen),
        '',
      ]
      const scores = { ...evaluationTable(labelled, metric), emphasised: base }
      const title = `Difference to ${rows[base]!.label}, in percentage points`
      return [
        section(`Scores on ${split} questions`, scores),
        rows.length > 1 && section(title, differenceTable(rows, base)),
        matched.length > 0 && section('At matched tokens', matchedTable(matched)),
        settings.length > 0 && section('Settings that differ', settingsTable(settings, runs)),
        runs.length > 1 && settings.length === 0 && ['No setting differs.', ''],
        listed?.map((one) => [listLines(one, screen), '']),
        labelled.some(({ isSimulated }) => isSimulated) && simulatedNote,
      ]
    },
  )
}

/** Those of the organisations asked for, and the base. */
function chosenOf(
  all: readonly KeptEvaluation[],
  base: KeptEvaluation,
  { organisation: wanted }: CompareOptions,
): readonly KeptEvaluation[] {
  if (wanted === undefined) return all
  const names = new Set(all.map(({ header }) => header.organisation))
  const unknown = wanted.find((name) => !names.has(name))
  if (unknown !== undefined)
    throw new UsageError(`There is no evaluation of '${unknown}'. There are: ${[...names].join(', ')}.`)
  return all.filter((one) => one === base || wanted.includes(one.header.organisation))
}

function readRun(name: string, { split, runsDir }: CompareOptions): ComparedRun {
  const folder = existingRun(name, runsDir)
  const record = folder.readRecord()
  const all = keptEvaluations(folder, record.name)
  const evaluations = latestEvaluations(all.filter(({ header }) => header.split === split))
  if (evaluations.length > 0) return { record, evaluations }
  const others = [...new Set(all.map(({ header }) => header.split))]
  const there = others.length === 0 ? '' : ` It has some on ${others.join(', ')}.`
  throw new UsageError(
    `The run ${name} keeps no evaluation on '${split}' questions.${there} Make one: \`magic eval ${name} --split ${split}\`.`,
  )
}

function differenceTable(rows: readonly ComparedEvaluation[], base: number): ShownTable {
  return {
    columns: ['organisation', 'difference [95 %]', 'detectable', 'won', 'lost', 'tied', 'tokens'],
    rows: rows.toSpliced(base, 1).map(({ label, against }) => {
      if (against === undefined) return [label, 'no common question']
      const { difference: mean, low, high, detectable, wins, losses, ties, tokenRatio } = against
      const ratio = tokenRatio === undefined ? '–' : `${tokenRatio.toFixed(tokenRatio < 9.995 ? 2 : 1)}×`
      const shown = `±${(detectable * 100).toFixed(1)}`
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
