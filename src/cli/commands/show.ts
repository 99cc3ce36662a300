import type { Command } from 'commander'
import { keptEvaluations } from '../../evaluation/compare-evaluations.ts'
import { curvesCsv, writeTensorBoard } from '../../evaluation/curves.ts'
import { questionDetails } from '../../evaluation/question-detail.ts'
import {
  fifthOf,
  finalGraphs,
  type ListedRun,
  listRuns,
  placedUnits,
  runOverview,
} from '../../evaluation/run-overview.ts'
import { worthOfTraining } from '../../evaluation/worth.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { outerPicture } from '../../graph/render/picture.ts'
import { svg } from '../../graph/render/svg.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { writeWhole } from '../../store/durable-file.ts'
import { defaultRunsFolder, type RunFolder } from '../../store/run-folder.ts'
import { duration, percent } from '../display/numbers.ts'
import type { Screen } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { NotedCommand } from '../help-notes.ts'
import { askedIn } from '../job.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { questionLines } from '../views/question-view.ts'
import { runLines, type ShownRun } from '../views/run-view.ts'
import { meanScore } from '../views/training-view.ts'

interface ShowOptions {
  readonly runsDir?: string
  readonly graphs: number
  readonly question?: string
  readonly organisation?: string
  readonly split?: string
  readonly csv?: string
  readonly tensorboard?: string
  readonly svg?: string
  readonly json: boolean
}

export function showCommand(): Command {
  return new NotedCommand('show')
    .description('Show a run: settings, learning curves, graphs, scores. Without a name, list all runs.')
    .argument('[run]', 'name or folder of a run')
    .option('--graphs <n>', 'draw the n most common graphs', wholeNumber(0), 3)
    .option('--question <id>', 'show one question: answers, graphs, every request and reply')
    .option('--organisation <name>', 'with --question: only this organisation, or `training`')
    .option('--split <name>', 'with --question: only this split')
    .option('--csv <file>', 'also write the curves as CSV, one line per update')
    .option('--tensorboard <folder>', 'also write the curves for TensorBoard')
    .option('--svg <file>', "also write the most common graph, or the question's, as SVG")
    .addOption(runsDirOption())
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic show', 'list all runs'],
        ['magic show first', 'one run'],
        ["magic show first --json | jq '.updates[].score'"],
        ['magic show first --question synthetic-0-choice-1 --organisation trained'],
        ['magic show first --csv curves.csv --tensorboard board --svg graph.svg'],
      ],
      notes: [
        'This only reads, so it is safe while the run is training. Scores of updates are on training questions with exploratory graphs; the score that counts is that of `magic eval`.',
      ],
    })
    .action(async (name: string | undefined, options: ShowOptions) => {
      if (name === undefined) return showRuns(options)
      const folder = existingRun(name, options.runsDir)
      if (options.question !== undefined) return showQuestion(folder, options.question, options)
      if (options.organisation !== undefined || options.split !== undefined)
        throw new UsageError('--organisation and --split need --question ID.')
      const overview = runOverview(folder)
      const evaluations = keptEvaluations(folder, overview.record.name)
      const run: ShownRun = {
        folder: folder.path,
        overview,
        graphs: finalGraphs(folder, fifthOf(overview.updates.length)),
        evaluations,
        worth: worthOfTraining(evaluations),
      }
      if (options.csv !== undefined) writeWhole(options.csv, curvesCsv(overview.updates))
      if (options.tensorboard !== undefined) writeTensorBoard(options.tensorboard, overview.updates)
      writeDrawing(options, run.graphs[0]?.graph)
      printResult(options, runJson(run), (screen) => runLines(run, options.graphs, screen))
    })
}

async function showQuestion(folder: RunFolder, question: string, options: ShowOptions): Promise<void> {
  const { organisation, split } = options
  const details = await questionDetails(folder, question, { organisation, split, asked: askedIn(folder) })
  writeDrawing(options, AgentGraph.from(details[0]!.record.graph))
  printResult(options, { question, answers: details }, (screen) => questionLines(details, screen))
}

function writeDrawing({ svg: file }: ShowOptions, graph: AgentGraph | undefined): void {
  if (file === undefined) return
  if (graph === undefined)
    throw new UsageError('There is no graph to draw yet, because the run has made no update.')
  writeWhole(file, svg(outerPicture(graph)))
}

function runJson({ folder, overview, graphs, evaluations, worth }: ShownRun): object {
  const { record, done, isFinished, updates, departures, made, reused } = overview
  const fifth = fifthOf(updates.length)
  const mix = (part: typeof updates) => {
    const { roles, sizes, ...rest } = placedUnits(part)
    return { ...rest, roles: Object.fromEntries(roles), sizes: Object.fromEntries(sizes) }
  }
  return {
    ...{ folder, run: record, done, finished: isFinished },
    departures: departures.map(({ name, values: [paper, own] }) => ({ name, paper, own })),
    totals: { made, reused, spent: updates.at(-1)?.spent ?? null },
    actions: { first: mix(updates.slice(0, fifth)), last: mix(updates.slice(-fifth)), updates: fifth },
    graphs,
    evaluations: evaluations.map(({ folder: at, header, report: { records: _, ...report } }) => ({
      ...{ folder: at, about: header.about, model: header.model, data: header.data },
      ...report,
    })),
    worth: worth ?? null,
    updates,
  }
}

function showRuns(options: ShowOptions): void {
  const runs = options.runsDir ?? defaultRunsFolder()
  const listed = listRuns(runs).map(listedRun)
  printResult(options, listed, (screen) => listLines(listed, runs, screen))
}

/** One run of the list, as `--json` prints it. */
function listedRun(run: ListedRun) {
  const { name, folder } = run
  if ('problem' in run) return { name, folder: folder.path, problem: run.problem }
  const { record, done, isFinished, updates } = run.overview
  return {
    name,
    folder: folder.path,
    tasks: record.tasks.name,
    model: `${record.model.provider}/${record.model.model}`,
    done,
    updates: record.updates,
    finished: isFinished,
    trainingScore: meanScore(updates)?.mean ?? null,
    createdAt: record.createdAt,
    lastUpdateAt: updates.at(-1)?.at ?? record.createdAt,
  }
}

function listLines(
  listed: readonly ReturnType<typeof listedRun>[],
  folder: string,
  screen: Screen,
): string[] {
  if (listed.length === 0) return [`There are no runs in ${folder} yet. \`magic train\` makes one.`]
  const rows = listed.map((run) => {
    if (run.problem !== undefined) return [run.name, '', '', `unreadable: ${run.problem}`]
    const { name, tasks, model, done, updates, finished, trainingScore, lastUpdateAt } = run
    const state = finished ? 'finished' : 'unfinished'
    const ago = `${duration(Date.now() - Date.parse(lastUpdateAt))} ago`
    const mark = isSimulatedModel(model) ? ' (simulated)' : ''
    const score = `${percent(trainingScore ?? Number.NaN)}${mark}`
    return [name, tasks, `${done}/${updates}`, state, score, ago]
  })
  const columns = ['run', 'tasks', 'updates', 'state', 'training score', 'last update']
  const legend = 'The training score is the mean of the last updates. For more: `magic show RUN`.'
  return [...tableLines({ columns, rows, texts: [0, 1, 3] }, screen), '', legend]
}
