import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import {
  type DemoComparison,
  type DemoResult,
  demoFamilies,
  demoSizes,
  quickSizes,
  runDemo,
} from '../../experiments/demo.ts'
import { exitCode } from '../../problem.ts'
import { defaultRunsFolder } from '../../store/run-folder.ts'
import { graphDrawing } from '../display/graph-drawing.ts'
import { differenceWithInterval, duration, scoreWithInterval, tokens } from '../display/numbers.ts'
import { type Screen, wrapText } from '../display/screen.ts'
import { terminalTable } from '../display/table.ts'
import { printable } from '../display/terminal-text.ts'
import { interruptSignal } from '../interrupt.ts'
import { openJob } from '../job.ts'
import { runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { printResult } from '../print.ts'
import { runWord } from '../views/training-summary.ts'
import { TrainingView } from '../views/training-view.ts'

interface DemoOptions extends ReportOptions {
  readonly seed: number
  readonly quick: boolean
  readonly runsDir?: string
}

/** The table's words for the organisations, by their names. */
const descriptions: Readonly<Record<string, string>> = {
  direct: 'direct: the model alone',
  chain: 'chain: three roles in a row',
  untrained: 'untrained policy',
  'all-atomic': 'trained, all-atomic',
  'all-group': 'trained, all-group',
  trained: 'trained policy',
}

export function demoCommand(): Command {
  const command = new Command('demo')
    .description(
      'Watch a policy learn on synthetic questions and the simulated model, then see it examined. No key needed.',
    )
    .option('--seed <n>', 'seed of questions, simulated model and training', wholeNumber(0), 0)
    .option(
      '--quick',
      'a handful of questions, in seconds: to see that all of it works, not what it learns',
      false,
    )
    .addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic demo
  magic demo --seed 3 --json
  magic demo --quick

It takes one to two minutes on two cores. Everything runs as with a real model, through HTTP, but the model is
simulated: the numbers show the machinery at work, not what a language model can do.`,
    )
    .action(async (options: DemoOptions) => {
      process.exitCode = await demo(options)
    })
}

async function demo(options: DemoOptions): Promise<number> {
  const start = performance.now()
  const { seed, quick } = options
  const sizes = quick ? quickSizes : demoSizes
  const runs = options.runsDir ?? defaultRunsFolder()
  const folder = freeFolder(runs, `${quick ? 'quick-demo' : 'demo'}-${seed}`)
  const progress = openProgress(options)
  const view = new TrainingView({ progress, isSimulated: true, caps: {}, folder })
  const signal = interruptSignal((text) => view.note(text))
  const source = {
    tasks: 'synthetic',
    trainSize: sizes.train,
    testSize: sizes.test,
    taskSeed: seed,
    families: demoFamilies,
  }
  const job = await openJob(source, { simulatedSeed: seed, sandbox: null }, (text) => view.note(text))
  try {
    const result = await runDemo({
      seed,
      set: job.set,
      model: job.model,
      folder,
      source: { ...job.source, encoder: 'lexical' },
      signal,
      onTraining: view.listen,
      onQuestion: (organisation, done, total) => {
        if (done === 1) progress.start(total, `examining ${descriptions[organisation]} (simulated)`)
        progress.update({ done })
      },
    }).finally(() => view.end())
    const ms = performance.now() - start
    printResult(
      options,
      () => demoJson(result, options, ms),
      (screen) => demoText(result, ms, screen),
    )
    return result.comparison === undefined ? exitCode.interrupted : exitCode.done
  } catch (error) {
    if (!signal.aborted) throw error
    return exitCode.interrupted
  } finally {
    await job.close()
  }
}

/** Beside those of earlier demos, which are somebody's runs by now. */
function freeFolder(runs: string, name: string): string {
  let folder = join(runs, name)
  for (let number = 2; existsSync(folder); number += 1) folder = join(runs, `${name}-${number}`)
  return folder
}

function demoText({ training, comparison }: DemoResult, ms: number, screen: Screen): string {
  const run = runWord(training.folder)
  if (comparison === undefined)
    return `Interrupted after ${training.done} of ${training.updates} updates. \`magic resume ${run}\` goes on.\n`
  const { reports, example } = comparison
  const room = { columns: Math.min(screen.columns, 100) }
  const table = terminalTable(
    {
      columns: [
        { header: 'on held-out questions' },
        { header: 'accuracy [95 %]', kind: 'number' },
        { header: 'tokens per question', kind: 'number' },
      ],
      rows: reports.map(({ organisation, score, tokens: used }) => [
        descriptions[organisation]!,
        scoreWithInterval(score),
        tokens(used.total),
      ]),
      emphasised: [reports.length - 1],
    },
    screen,
  )
  return [
    '',
    table.trimEnd(),
    '',
    wrapText(verdict(comparison), room),
    wrapText(
      `${training.updates} updates and ${reports.length} × ${reports[0]!.n} questions in ${duration(ms)}. All numbers are simulated: no language model was asked.`,
      room,
    ),
    '',
    'A question that it never saw, the organisation that it built, and the answer:',
    '',
    ...quoted(example.task.question, room),
    '',
    graphDrawing(example.graph, screen),
    '',
    `  ${printable(typeof example.answer === 'string' ? firstLines(example.answer) : JSON.stringify(example.answer))}`,
    '',
    'Where to look next (in a checkout, write `npm run -s magic --` for `magic`):',
    ...[
      [`magic show ${run}`, 'how it learned, and its graphs'],
      [`magic ask ${run} "your question"`, 'ask it something'],
      [`magic compare ${run} --base untrained`, 'the table, with differences'],
      ['magic init my-task', 'your own questions'],
    ].map(([command, what]) => `  ${command!.padEnd(32 + run.length)}  ${what}`),
    '',
  ].join('\n')
}

function verdict({ rows, reports }: DemoComparison): string {
  const { against } = rows.at(-1)!
  const { difference, low, high } = against!
  const gain = differenceWithInterval({ mean: difference, low, high })
  const group = reports.find(({ organisation }) => organisation === 'all-group')!
  const share = reports.at(-1)!.tokens.total / group.tokens.total
  const word = low > 0 ? 'beats' : high < 0 ? 'is worse than' : 'does not differ clearly from'
  return `The trained policy ${word} the untrained one: ${gain} points [95 %, paired bootstrap], with ${Math.round(share * 100)} % of all-group's tokens.`
}

function quoted(question: string, room: Pick<Screen, 'columns'>): string[] {
  return printable(question)
    .split('\n')
    .slice(0, 12)
    .map((line) => `  ${wrapText(line, room, '  ')}`)
}

function firstLines(text: string): string {
  return text.split('\n').slice(0, 12).join('\n  ')
}

function demoJson({ training, comparison }: DemoResult, { seed, quick }: DemoOptions, ms: number): unknown {
  const base = { simulated: true, seed, quick, seconds: ms / 1000, training }
  if (comparison === undefined) return base
  const { rows, reports, example } = comparison
  const trained = rows.at(-1)!
  const group = reports.find(({ organisation }) => organisation === 'all-group')!
  return {
    ...base,
    organisations: rows.map((row) => ({ ...row, label: descriptions[row.organisation] })),
    trainedBeatsUntrained: trained.against!.low > 0,
    fewerTokensThanAllGroup: trained.tokens.total < group.tokens.total,
    example: { question: example.task.question, graph: example.graph, answer: example.answer ?? null },
  }
}
