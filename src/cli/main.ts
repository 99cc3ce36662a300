import { unsettledPromises } from '../library/given-promise.ts'
import { exitCode } from '../problem.ts'
import { printable } from './display/terminal-text.ts'
import { runProgram } from './program.ts'

// No stack trace if a reader such as `head` stops early or the disk is full.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.done)
    if (stream === process.stdout) process.stderr.write(`magic: cannot write the output (${error.code}).\n`)
    process.exit(exitCode.failed)
  })
}

/** Runs if Node has nothing left to do but the command has not ended: it awaits a promise that never settles. */
const tellUnsettled = () => {
  const problems = unsettledPromises()
  const told =
    problems.length === 0 ? 'the command stopped before it was done.' : problems.slice(0, 3).join('\n')
  process.stderr.write(`magic: ${printable(told)}\n`)
  process.exit(problems.length === 0 ? exitCode.failed : exitCode.usage)
}
process.once('beforeExit', tellUnsettled)
process.exitCode = await runProgram(process.argv.slice(2))
process.off('beforeExit', tellUnsettled)
