import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import type { Command } from 'commander'
import { transcriptOf } from '../../evaluation/question-detail.ts'
import { solve } from '../../evaluation/solve.ts'
import { CallLimit } from '../../models/call-limit.ts'
import { executionSettings } from '../../settings/execution.ts'
import { givenAddress } from '../../store/postgres/address.ts'
import { defaultRunsFolder } from '../../store/run-folder.ts'
import { version } from '../../version.ts'
import type { AskRun } from '../../view/ask.ts'
import { builtPages } from '../../view/front-end.ts'
import { shownTrace } from '../../view/shown-trace.ts'
import { startView } from '../../view/view-server.ts'
import { WorkWatch } from '../../workers/overview.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { openPolicy } from '../open-policy.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { tasksToShow } from '../options/tasks-to-show.ts'

interface ViewCommandOptions {
  readonly port: number
  readonly runsDir?: string
  readonly allowAsk: boolean
  readonly json: boolean
}

export function viewCommand(): Command {
  return new NotedCommand('view')
    .description('Show runs in the browser: learning curves, graphs, every question. Live during training.')
    .argument('[run]', 'name or folder of a run to open (default: all runs)')
    .option('--port <n>', 'port on 127.0.0.1; 0 picks a free one', wholeNumber(0, 65_535), 4242)
    .option(
      '--allow-ask',
      "allow questions to a run's policy; they call the run's model and cost money",
      false,
    )
    .addOption(runsDirOption())
    .addOption(jsonOption('the address as one JSON object'))
    .notes({
      examples: [
        ['magic view', 'all runs'],
        ['magic view first', 'one run'],
        ['magic view --port 0', 'on any free port'],
        ['magic view --allow-ask', 'with a page to ask questions'],
      ],
      notes: [
        'It listens on this machine only and sends nothing anywhere. Without --allow-ask it only reads, so it is safe while a run is training. From another machine, use a tunnel: ssh -L 4242:127.0.0.1:4242 HOST. See docs/view.md.',
      ],
    })
    .action(view)
}

async function view(name: string | undefined, options: ViewCommandOptions): Promise<void> {
  const folder = name === undefined ? undefined : existingRun(name, options.runsDir).path
  const runs = folder === undefined ? (options.runsDir ?? defaultRunsFolder()) : dirname(folder)
  const pages = await builtPages()
  const ask = options.allowAsk ? askRun : undefined
  const address = givenAddress()
  const watch = address && new WorkWatch(address)
  const server = await startView({
    ...{ port: options.port, runs, pages, version, openTasks: tasksToShow, ask },
    work: watch && (() => watch.look()),
  })
  const signal = interruptSignal(() => {})
  const stopped = once(signal, 'abort')
  const url = folder === undefined ? server.url : `${server.url}/runs/${encodeURIComponent(basename(folder))}`
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, runs })}\n`
      : `Showing the runs in ${runs} at ${url}\nCtrl-C stops it.\n`,
  )
  await stopped
  await server.close(1000)
  await watch?.close()
}

/** Asks like `magic ask`, with the run's own model and tools; this executes the run's configuration. */
const askRun: AskRun = async (folder, question, { signal, tell }) => {
  const say = (text: string) => tell({ type: 'note', text })
  await using closing = new AsyncDisposableStack()
  const opened = await openPolicy(folder, {}, closing, say)
  const { run, job, policy, questions, tools } = opened
  const { task } = questions.taskFor({ id: question, question, metadata: {} })
  const { status, answer, usage, cost, durationMs, trace, graph } = await solve({
    ...{ policy, task, signal, model: job.model, models: job.models, contract: questions.contractFor(task) },
    tools,
    limit: new CallLimit(job.concurrency),
    settings: { ...executionSettings.parse(run.execution), traceContent: true },
    onConstruction: (built) => {
      const { units } = built.graph
      tell({
        ...{ type: 'construction', update: policy.update, temperature: built.temperature },
        ...{ units, steps: built.explain() },
      })
    },
    onEvent: (event) => tell({ type: 'execution', event }),
  })
  tell({
    ...{ type: 'answer', status, answer: answer ?? null, usage, cost, durationMs },
    simulated: job.isSimulated,
    guess: job.isSimulated && !questions.knowsAnswer(task),
    trace: shownTrace({ record: { graph, durationMs }, transcript: transcriptOf(trace) }),
  })
}
