import { exitCode, Problem } from '../problem.ts'

/** The first Ctrl-C or SIGTERM cancels the work in progress; a second one exits at once. */
export function interruptSignal(say: (text: string) => void): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode.interrupted)
      say('Stopping. Press Ctrl-C again to quit at once.')
      controller.abort(new Problem(`Interrupted by ${name}.`, { exitCode: exitCode.interrupted }))
    })
  }
  return controller.signal
}
