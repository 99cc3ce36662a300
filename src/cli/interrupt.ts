/** The first Ctrl-C or SIGTERM cancels what is under way; the second ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130)
      process.stderr.write('\nStopping; once more ends it at once.\n')
      controller.abort(new Error(`interrupted by ${name}`))
    })
  }
  return controller.signal
}
