import { Command } from 'commander'
import { type KeptEvaluation, keptEvaluations } from '../../evaluation/compare-evaluations.ts'
import {
  type FinalGraph,
  fifthOf,
  finalGraphs,
  listRuns,
  placedUnits,
  type RunOverview,
  runOverview,
} from '../../evaluation/run-overview.ts'
import { defaultRunsFolder, type RunFolder } from '../../store/run-folder.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { printResult } from '../print.ts'
import { evaluationsText, runText } from '../views/run-view.ts'
import { listJson, listText } from '../views/runs-list-view.ts'

interface ShowOptions {
  readonly runsDir?: string
  readonly graphs: number
  readonly json: boolean
}

export function showCommand(): Command {
  return new Command('show')
    .description(
      'Show a run: what it is, how it learned, the graphs it builds, its scores. Without one: all runs.',
    )
    .argument('[run]', 'name or folder of the run')
    .option('--graphs <n>', 'how many of the most common graphs to draw', wholeNumber(0), 3)
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic show                       the runs there are
  magic show first                 one of them
  magic show first --json | jq '.updates[].score'

It only reads, so it is safe while the run is training. Scores of updates are on training questions, with graphs drawn
to explore; \`magic eval\` gives the score that counts.`,
    )
    .action((run: string | undefined, options: ShowOptions) => {
      if (run === undefined) showRuns(options)
      else showRun(existingRun(run, options.runsDir), options)
    })
}

function showRuns(options: ShowOptions): void {
  const runs = options.runsDir ?? defaultRunsFolder()
  const listed = listRuns(runs)
  printResult(
    options,
    () => listed.map(listJson),
    (screen) => listText(listed, runs, screen),
  )
}

function showRun(folder: RunFolder, options: ShowOptions): void {
  const overview = runOverview(folder)
  const evaluations = keptEvaluations(folder, overview.record.name)
  const finals = finalGraphs(folder, fifthOf(overview.updates.length))
  printResult(
    options,
    () => runJson(overview, folder, finals, evaluations),
    (screen) =>
      runText(overview, folder, finals, options.graphs, screen) +
      evaluationsText(evaluations, overview.record, screen),
  )
}

function runJson(
  { record, done, isFinished, updates, departures, made, reused }: RunOverview,
  folder: RunFolder,
  graphs: readonly FinalGraph[],
  evaluations: readonly KeptEvaluation[],
): object {
  const fifth = fifthOf(updates.length)
  const mix = (part: typeof updates) => {
    const { roles, sizes, ...rest } = placedUnits(part)
    return { ...rest, roles: Object.fromEntries(roles), sizes: Object.fromEntries(sizes) }
  }
  return {
    ...{ folder: folder.path, run: record, done, finished: isFinished },
    departures: departures.map(({ name, values: [paper, own] }) => ({ name, paper, own })),
    totals: { made, reused, spent: updates.at(-1)?.spent ?? null },
    actions: { first: mix(updates.slice(0, fifth)), last: mix(updates.slice(-fifth)), updates: fifth },
    graphs,
    evaluations: evaluations.map(({ folder: at, header, report: { records: _, ...report } }) => ({
      ...{ folder: at, about: header.about, model: header.model, data: header.data },
      ...report,
    })),
    updates,
  }
}
