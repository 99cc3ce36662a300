import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Command } from 'commander'
import { Problem } from '../../problem.ts'
import { defaultRunsFolder, type RunRecord } from '../../store/run-folder.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { builtPages } from '../../view/front-end.ts'
import { startView } from '../../view/view-server.ts'
import { interruptSignal } from '../interrupt.ts'
import { existingRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { openTasks, type TaskSource } from '../options/task-options.ts'

interface ViewCommandOptions {
  readonly port: number
  readonly runsDir?: string
  readonly json: boolean
}

export function viewCommand(): Command {
  return new Command('view')
    .description('Look at runs in the browser: how they learn, what they build, how every question went.')
    .argument('[run]', 'name or folder of a run to open; all runs otherwise')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', wholeNumber(0, 65_535), 4242)
    .addOption(runsDirOption())
    .addOption(jsonOption('the address as one JSON object'))
    .addHelpText(
      'after',
      `
Examples:
  magic view                 all runs
  magic view first           one of them
  magic view --port 0        on any free port

It listens on this machine only, sends nothing anywhere, and only reads: it is safe while a run is training, which
it shows live. From another machine, use a tunnel: ssh -L 4242:127.0.0.1:4242 HOST. docs/view.md tells more.`,
    )
    .action(view)
}

async function view(name: string | undefined, options: ViewCommandOptions): Promise<void> {
  const folder = name === undefined ? undefined : existingRun(name, options.runsDir).path
  const runs = folder === undefined ? (options.runsDir ?? defaultRunsFolder()) : dirname(folder)
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const pages = await builtPages()
  const server = await startView({ port: options.port, runs, pages, version, openTasks: tasksToShow })
  const signal = interruptSignal(() => {})
  const stopped = once(signal, 'abort')
  const url = folder === undefined ? server.url : `${server.url}/runs/${encodeURIComponent(basename(folder))}`
  process.stdout.write(
    options.json ? `${JSON.stringify({ url, runs })}\n` : `Runs of ${runs} at ${url}\nCtrl-C stops it.\n`,
  )
  await stopped
  await server.close(1000)
}

/** Looking at a run must not run code that its record names: questions from a configuration are left out. */
async function tasksToShow({ source }: RunRecord): Promise<TaskSet> {
  const tasks = source?.['tasks'] as TaskSource | undefined
  if (tasks === undefined)
    throw new Problem('The run was begun from code: its folder does not tell where its questions are.')
  if (tasks.config !== undefined)
    throw new Problem(
      'The questions come from a configuration file, which is a program: looking at a run does not start it.',
    )
  return (await openTasks(tasks)).set
}
