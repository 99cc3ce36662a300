import { exitCode, Problem } from '../problem.ts'

/** The first Ctrl-C or SIGTERM cancels what is under way; the second ends the process at once. */
export function interruptSignal(say: (text: string) => void): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode.interrupted)
      say('Stopping; once more ends it at once.')
      controller.abort(new Problem(`Interrupted by ${name}.`, { exitCode: exitCode.interrupted }))
    })
  }
  return controller.signal
}
