import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A signal that remembers its listeners after their removal, as a heap may until the next full garbage collection. */
export function rememberingSignal(): { signal: AbortSignal; listeners: unknown[] } {
  const listeners: unknown[] = []
  const { signal } = new AbortController()
  const listen = signal.addEventListener.bind(signal)
  signal.addEventListener = (...given: Parameters<typeof listen>) => {
    listeners.push(given[1])
    listen(...given)
  }
  return { signal, listeners }
}

/** Whether an object is gone after a full garbage collection. */
export async function isReleased(reference: WeakRef<object>): Promise<boolean> {
  // A target lives at least until the end of the turn in which its reference was made.
  await new Promise((resolve) => setImmediate(resolve))
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return reference.deref() === undefined
}
