import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { unsettledPromises } from '../library/given-promise.ts'
import { exitCode } from '../problem.ts'
import { printable } from './display/terminal-text.ts'
import { exitCodeHelp } from './exit-code.ts'
import { explain } from './problem.ts'

/** Opened one by one: a command need not wait for what only others use. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./commands/demo.ts')).demoCommand(),
  init: async () => (await import('./commands/init.ts')).initCommand(),
  train: async () => (await import('./commands/train.ts')).trainCommand(),
  resume: async () => (await import('./commands/resume.ts')).resumeCommand(),
  estimate: async () => (await import('./commands/estimate.ts')).estimateCommand(),
  eval: async () => (await import('./commands/eval.ts')).evalCommand(),
  ask: async () => (await import('./commands/ask.ts')).askCommand(),
  show: async () => (await import('./commands/show.ts')).showCommand(),
  compare: async () => (await import('./commands/compare.ts')).compareCommand(),
  view: async () => (await import('./commands/view.ts')).viewCommand(),
  report: async () => (await import('./commands/report.ts')).reportCommand(),
  verify: async () => (await import('./commands/verify.ts')).verifyCommand(),
  graph: async () => (await import('./commands/graph.ts')).graphCommand(),
  run: async () => (await import('./commands/run.ts')).runCommand(),
  data: async () => (await import('./commands/data.ts')).dataCommand(),
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const word = process.argv.slice(2).find((one) => !one.startsWith('-')) ?? ''

const program = new Command('magic')
  .description('Learns, per question, how to organise language-model agents, and runs that organisation.')
  .version(version)
  .showHelpAfterError('(add --help for usage and examples)')
  .exitOverride()
  .addHelpText('after', exitCodeHelp)
for (const open of Object.hasOwn(commands, word) ? [commands[word]!] : Object.values(commands)) {
  const command = await open()
  command.copyInheritedSettings(program)
  program.addCommand(command)
}

// No stack trace when a reader such as `head` stops early, or when the disk is full.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.done)
    if (stream === process.stdout)
      process.stderr.write(`magic: the output cannot be written (${error.code}).\n`)
    process.exit(exitCode.failed)
  })
}

/** Node has nothing left to do, but the command has not ended: it awaits a promise that never settles. */
const tellUnsettled = () => {
  const problems = unsettledPromises()
  const told =
    problems.length === 0 ? 'the command ended before it was done.' : problems.slice(0, 3).join('\n')
  process.stderr.write(`magic: ${printable(told)}\n`)
  process.exit(problems.length === 0 ? exitCode.failed : exitCode.usage)
}
process.once('beforeExit', tellUnsettled)

try {
  await program.parseAsync()
} catch (error) {
  // Commander has already said what is wrong, or shown the help that was asked for.
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage
  else {
    const { message, code } = explain(error)
    process.stderr.write(`magic: ${printable(message)}\n`)
    process.exitCode = code
  }
} finally {
  process.off('beforeExit', tellUnsettled)
}
