// A process that runs one command line after another, as sent by `test/magic.ts`: starting a process for
// each would take longer than most commands.
import { Writable } from 'node:stream'
import '../bin/own-package.js'
import { runProgram } from '../src/cli/program.ts'
import type { CommandLine, Outcome } from './magic.ts'

const usual = { env: { ...process.env }, cwd: process.cwd() }
const signals = ['SIGINT', 'SIGTERM', 'SIGCONT'] as const

process.on('message', async ({ words, env, cwd }: CommandLine) => {
  process.chdir(cwd ?? usual.cwd)
  replaceEnvironment({ ...usual.env, ...env })
  const [stdout, stderr] = [captured('stdout'), captured('stderr')]
  const code = await runProgram(words)
  for (const name of signals) process.removeAllListeners(name)
  process.send!({ code, stdout: stdout(), stderr: stderr() } satisfies Outcome)
})
process.on('disconnect', () => process.exit())

function replaceEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
}

/** Replaces a stream of the process. The result returns what was written. */
function captured(name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  Object.defineProperty(process, name, { value: stream, configurable: true })
  return () => Buffer.concat(chunks).toString()
}
