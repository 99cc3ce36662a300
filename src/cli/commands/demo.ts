import { join } from 'node:path'
import type { Command } from 'commander'
import {
  type DemoResult,
  demoFamilies,
  demoSizes,
  quickSizes,
  quickTraining,
  runDemo,
} from '../../experiments/demo.ts'
import { exitCode } from '../../problem.ts'
import { defaultRunsFolder } from '../../store/run-folder.ts'
import { commandLines } from '../display/command-lines.ts'
import { differenceWithInterval, duration, scoreWithInterval, tokens } from '../display/numbers.ts'
import { graphLines, type Lines, type Screen, wrapText } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { printable } from '../display/terminal-text.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { openJob } from '../job.ts'
import { freeFolder } from '../open-run.ts'
import { runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { printResult } from '../print.ts'
import { runWord } from '../views/training-summary.ts'
import { TrainingView } from '../views/training-view.ts'
import { worthSentence } from '../views/worth-sentence.ts'

interface DemoOptions extends ReportOptions {
  readonly seed: number
  readonly quick: boolean
  readonly runsDir?: string
}

export function demoCommand(): Command {
  const command = new NotedCommand('demo')
    .description(
      'Train a policy on synthetic questions with the simulated model, then test it. Needs no key.',
    )
    .option('--seed <n>', 'seed of the questions, the simulated model and the training', wholeNumber(0), 0)
    .option(
      '--quick',
      'a few questions, in seconds: shows that everything works, but too little to learn from',
      false,
    )
    .addOption(runsDirOption())
  return addReportOptions(command)
    .notes({
      examples: [
        ['magic demo', 'one to two minutes on two cores'],
        ['magic demo --quick', 'the same steps in seconds'],
        ['magic demo --seed 3 --json'],
      ],
      notes: [
        'Everything runs as with a real model, over HTTP, but the model is simulated: the numbers show that the method works, not what a language model can do.',
      ],
    })
    .action(demo)
}

async function demo(options: DemoOptions): Promise<void> {
  const start = performance.now()
  const { seed, quick } = options
  const sizes = quick ? quickSizes : demoSizes
  const folder = freeFolder(
    join(options.runsDir ?? defaultRunsFolder(), `${quick ? 'quick-demo' : 'demo'}-${seed}`),
  )
  const progress = openProgress(options)
  const view = new TrainingView({ progress, isSimulated: true, caps: {}, folder })
  const signal = interruptSignal((text) => view.note(text))
  const questions = { trainSize: sizes.train, testSize: sizes.test, taskSeed: seed, families: demoFamilies }
  const source = { tasks: 'synthetic', ...questions }
  await using job = await openJob(source, { simulatedSeed: seed, sandbox: null }, (text) => view.note(text))
  const { set, model, source: kept } = job
  const result = await runDemo({
    ...{ seed, set, model, folder, signal, source: { ...kept, encoder: 'lexical' } },
    training: quick ? quickTraining : {},
    onTraining: view.listen,
    onSearch: (done, total) => {
      if (done === 1) progress.start(total, 'searching for a fixed graph (simulated)')
      progress.update({ done })
    },
    onQuestion: (organisation, done, total) => {
      if (done === 1) progress.start(total, `evaluating ${organisation} (simulated)`)
      progress.update({ done })
    },
  })
    .catch((error: unknown) => Promise.reject(signal.aborted ? signal.reason : error))
    .finally(() => view.end())
  const ms = performance.now() - start
  printResult(options, { simulated: true, seed, quick, seconds: ms / 1000, ...demoJson(result) }, (screen) =>
    demoLines(result, ms, screen),
  )
  process.exitCode = result.comparison === undefined ? exitCode.interrupted : exitCode.done
}

function demoLines({ training, comparison }: DemoResult, ms: number, screen: Screen): Lines {
  const run = runWord(training.folder)
  if (comparison === undefined)
    return [
      `Interrupted after ${training.done} of ${training.updates} updates. Continue with \`magic resume ${run}\`.`,
    ]
  const { reports, rows, worth, example } = comparison
  const room = { columns: Math.min(screen.columns, 100) }
  const { difference: mean, low, high } = rows.at(-1)!.against!
  const word = low > 0 ? 'beats' : high < 0 ? 'is worse than' : 'is not clearly better or worse than'
  const answer = typeof example.answer === 'string' ? example.answer : JSON.stringify(example.answer)
  const quoted = (text: string) =>
    printable(text)
      .split('\n')
      .slice(0, 12)
      .map((line) => `  ${wrapText(line, room, '  ')}`)
  const table = {
    columns: ['on held-out questions', 'accuracy [95 %]', 'tokens per question'],
    rows: reports.map(({ organisation, score, tokens: used }) => [
      organisation,
      scoreWithInterval(score),
      tokens(used.total),
    ]),
    emphasised: reports.length - 1,
  }
  return [
    '',
    tableLines(table, screen),
    '',
    wrapText(
      `The trained policy ${word} the untrained one: ${differenceWithInterval({ mean, low, high })} points [95 %, paired bootstrap].`,
      room,
    ),
    wrapText(worthSentence(worth), room),
    wrapText(
      `${training.updates} updates and ${reports.length} × ${reports[0]!.n} questions in ${duration(ms)}. All numbers are simulated: no language model was called.`,
      room,
    ),
    '',
    'A question it never saw, the graph it built, and its answer:',
    '',
    quoted(example.task.question),
    example.task.options?.map(({ label, text }) => quoted(`${label}) ${text}`)),
    '',
    graphLines(example.graph, screen),
    '',
    quoted(`Answer: ${answer ?? 'none'}`),
    '',
    'Next (if `magic` is not found: `npx magic`, or in a checkout `npm run -s magic --`):',
    commandLines(
      [
        [`magic show ${run}`, 'how it learned, and its graphs'],
        [`magic ask ${run} "your question"`, 'ask it something'],
        [`magic compare ${run} --base untrained`, 'paired differences'],
        [`magic view ${run}`, 'all of this in the browser'],
        ['magic init my-task', 'start with your own questions'],
      ],
      screen,
    ),
  ]
}

function demoJson({ training, comparison }: DemoResult): object {
  if (comparison === undefined) return { training }
  const { task, graph, answer = null } = comparison.example
  const example = { question: task.question, graph, answer }
  return { training, organisations: comparison.rows, worth: comparison.worth, example }
}
