const hide = '\u001b[?25l'
const show = '\u001b[?25h'
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listeners of ours: they do not keep each other from ending the process. */
const ours = new Set<unknown>()

/**
 * Hides the cursor until the returned function is called, and surely shows it again when the process ends or is put to
 * sleep (Ctrl-Z), so that no shell is left without one. Signals that others listen to are left to them.
 */
export function hideCursor(stream: NodeJS.WritableStream, onWake: () => void): () => void {
  const restore = () => {
    stream.write(show)
  }
  const end = (signal: NodeJS.Signals) => {
    if (process.listeners(signal).some((listener) => !ours.has(listener))) return
    release()
    // Without a listener now, it ends the process as it would have without us.
    process.kill(process.pid, signal)
  }
  const sleep = () => {
    restore()
    // Execution goes on here after SIGCONT.
    process.kill(process.pid, 'SIGSTOP')
    stream.write(hide)
    onWake()
  }
  const release = () => {
    process.off('exit', restore)
    for (const signal of endings) process.off(signal, end)
    process.off('SIGTSTP', sleep)
    ours.delete(end)
    restore()
  }
  process.on('exit', restore)
  for (const signal of endings) process.on(signal, end)
  process.on('SIGTSTP', sleep)
  ours.add(end)
  stream.write(hide)
  return release
}
