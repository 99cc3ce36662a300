import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { unsettledPromises } from '../library/given-promise.ts'
import { exitCode } from '../problem.ts'
import { askCommand } from './commands/ask.ts'
import { compareCommand } from './commands/compare.ts'
import { dataCommand } from './commands/data.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { estimateCommand } from './commands/estimate.ts'
import { evalCommand } from './commands/eval.ts'
import { graphCommand } from './commands/graph.ts'
import { initCommand } from './commands/init.ts'
import { resumeCommand } from './commands/resume.ts'
import { runCommand } from './commands/run.ts'
import { showCommand } from './commands/show.ts'
import { simulateCommand } from './commands/simulate.ts'
import { trainCommand } from './commands/train.ts'
import { verifyCommand } from './commands/verify.ts'
import { printable } from './display/terminal-text.ts'
import { exitCodeHelp } from './exit-code.ts'
import { explain } from './problem.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const program = new Command('magic')
  .description('Learns, per question, how to organise language-model agents, and runs that organisation.')
  .version(version)
  .showHelpAfterError('(add --help for usage and examples)')
  .exitOverride()
  .addHelpText('after', exitCodeHelp)
for (const command of [
  demoCommand(),
  initCommand(),
  trainCommand(),
  resumeCommand(),
  estimateCommand(),
  evalCommand(),
  askCommand(),
  showCommand(),
  compareCommand(),
  verifyCommand(),
  graphCommand(),
  runCommand(),
  dataCommand(),
  simulateCommand(),
  doctorCommand(),
]) {
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
