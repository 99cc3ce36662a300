import { Command, CommanderError } from 'commander'
import { exitCode } from '../problem.ts'
import { version } from '../version.ts'
import { commandLines } from './display/command-lines.ts'
import { type Lines, type Screen, screenOf } from './display/screen.ts'
import { printable } from './display/terminal-text.ts'
import { describeOption, exitCodeTable, formatHelpItem } from './help-notes.ts'
import { printResult } from './print.ts'
import { explain } from './problem.ts'

type Opener = () => Promise<Command>

/** Each command is imported only when it is needed, which keeps startup fast. */
const groups: Readonly<Record<string, Readonly<Record<string, Opener>>>> = {
  'Start here:': {
    demo: async () => (await import('./commands/demo.ts')).demoCommand(),
    init: async () => (await import('./commands/init.ts')).initCommand(),
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  'Train:': {
    estimate: async () => (await import('./commands/estimate.ts')).estimateCommand(),
    train: async () => (await import('./commands/train.ts')).trainCommand(),
    resume: async () => (await import('./commands/resume.ts')).resumeCommand(),
    worker: async () => (await import('./commands/worker.ts')).workerCommand(),
    workers: async () => (await import('./commands/workers.ts')).workersCommand(),
  },
  'Inspect and prove:': {
    show: async () => (await import('./commands/show.ts')).showCommand(),
    eval: async () => (await import('./commands/eval.ts')).evalCommand(),
    organisations: async () => (await import('./commands/organisations.ts')).organisationsCommand(),
    compare: async () => (await import('./commands/compare.ts')).compareCommand(),
    view: async () => (await import('./commands/view.ts')).viewCommand(),
    report: async () => (await import('./commands/report.ts')).reportCommand(),
    experiment: async () => (await import('./commands/experiment.ts')).experimentCommand(),
    verify: async () => (await import('./commands/verify.ts')).verifyCommand(),
  },
  'Use:': {
    ask: async () => (await import('./commands/ask.ts')).askCommand(),
    serve: async () => (await import('./commands/serve.ts')).serveCommand(),
    export: async () => (await import('./commands/export.ts')).exportCommand(),
  },
  'Building blocks:': {
    graph: async () => (await import('./commands/graph.ts')).graphCommand(),
    run: async () => (await import('./commands/run.ts')).runCommand(),
    data: async () => (await import('./commands/data.ts')).dataCommand(),
    ledger: async () => (await import('./commands/ledger.ts')).ledgerCommand(),
    simulate: async () => (await import('./commands/simulate.ts')).simulateCommand(),
    completion: async () => (await import('./commands/completion.ts')).completionCommand(allCommands),
  },
}

const openers = Object.entries(groups).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, open]): [string, Opener] => [
    name,
    async () => (await open()).helpGroup(group),
  ]),
)

/** Every command, with its own options and inner commands. */
export function allCommands(): Promise<Command[]> {
  return Promise.all(openers.map(([, open]) => open()))
}

const tagline = 'Learns, per question, how to organise language-model agents, and runs that organisation.'

function welcomeLines(screen: Screen): Lines {
  return [
    tagline,
    '',
    'Where to start:',
    commandLines(
      [
        ['magic demo --quick', 'see every step in seconds, no key'],
        ['magic init my-task', 'a folder with sample questions'],
        ['magic train questions.jsonl --name first', 'learn from your questions'],
        ['magic ask first "your question"', 'use what was learned'],
        ['magic doctor', 'what works on this machine'],
      ],
      screen,
    ),
    '',
    'All commands: `magic --help`. One command: `magic train --help`. Tab completion: `magic completion --help`.',
  ]
}

/** Runs a command line, explains what is wrong with it, and returns the exit code. */
export async function runProgram(words: readonly string[]): Promise<number> {
  process.exitCode = exitCode.done
  try {
    if (words.length === 0) printResult({ json: false }, null, welcomeLines)
    else await (await programFor(words)).parseAsync(words, { from: 'user' })
    return process.exitCode
  } catch (error) {
    // Commander has already printed the problem, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
    const { message, code } = explain(error)
    process.stderr.write(screenOf(process.stderr).text(`magic: ${printable(message)}`))
    return code
  }
}

async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('magic')
    .description(tagline)
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ optionDescription: describeOption, formatItem: formatHelpItem })
    .showHelpAfterError('Add --help for usage and examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (verbatim) => void process.stdout.write(screenOf(process.stdout).text({ verbatim })),
      writeErr: (text) => void process.stderr.write(screenOf(process.stderr).text(text)),
    })
    .addHelpText('after', exitCodeTable)
  const word = words.find((one) => !one.startsWith('-'))
  const named = openers.filter(([name]) => name === word)
  const isVersion = words.length === 1 && words[0] === '--version'
  for (const [, open] of named.length > 0 || isVersion ? named : openers) {
    const command = await open()
    command.copyInheritedSettings(program)
    program.addCommand(command)
  }
  return program
}
