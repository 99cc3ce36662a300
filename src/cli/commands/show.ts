import { Command } from 'commander'
import { keptEvaluations } from '../../evaluation/compare-evaluations.ts'
import { listRuns } from '../../evaluation/list-runs.ts'
import { fifthOf, finalGraphs, placedUnits, runOverview } from '../../evaluation/run-overview.ts'
import { defaultRunsFolder, type RunFolder } from '../../store/run-folder.ts'
import { screenOf } from '../display/screen.ts'
import { jsonText } from '../display/terminal-text.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
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

It only reads, so it may be used while the run is being trained. Scores of updates are of training questions, and of
graphs that were drawn to explore; what counts is \`magic eval\`.`,
    )
    .action((run: string | undefined, options: ShowOptions) => {
      if (run === undefined) showRuns(options)
      else showRun(existingRun(run, options.runsDir), options)
    })
}

function showRuns({ runsDir, json }: ShowOptions): void {
  const runs = runsDir ?? defaultRunsFolder()
  const listed = listRuns(runs)
  const screen = screenOf(process.stdout)
  process.stdout.write(json ? `${jsonText(listed.map(listJson))}\n` : listText(listed, runs, screen))
}

function showRun(folder: RunFolder, { json, graphs }: ShowOptions): void {
  const overview = runOverview(folder)
  const evaluations = keptEvaluations(folder, overview.record.name)
  const finals = finalGraphs(folder, fifthOf(overview.updates.length))
  if (json) {
    const { record, done, isFinished, updates, departures, made, reused } = overview
    const fifth = fifthOf(updates.length)
    const mix = (part: typeof updates) => {
      const { roles, sizes, ...rest } = placedUnits(part)
      return { ...rest, roles: Object.fromEntries(roles), sizes: Object.fromEntries(sizes) }
    }
    const text = jsonText({
      ...{ folder: folder.path, run: record, done, finished: isFinished },
      departures: departures.map(({ name, values: [paper, own] }) => ({ name, paper, own })),
      totals: { made, reused, spent: updates.at(-1)?.spent ?? null },
      actions: { first: mix(updates.slice(0, fifth)), last: mix(updates.slice(-fifth)), updates: fifth },
      graphs: finals,
      evaluations: evaluations.map(({ folder: at, header, report: { records: _, ...report } }) => ({
        ...{ folder: at, about: header.about, model: header.model, data: header.data },
        ...report,
      })),
      updates,
    })
    process.stdout.write(`${text}\n`)
    return
  }
  const screen = screenOf(process.stdout)
  process.stdout.write(runText(overview, folder, finals, graphs, screen))
  process.stdout.write(evaluationsText(evaluations, overview.record, screen))
}
