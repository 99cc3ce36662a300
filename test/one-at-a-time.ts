import { createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'

// A name in the kernel's table rather than the file system, so it disappears with its process.
const name = '\0magic-tests-of-limits'

/**
 * For suites that load all cores or measure time limits: only one runs at a time, whatever the number of
 * test workers. Others would take the time an honest program needs to meet its limits.
 */
export function oneAtATime(): void {
  let lock: Server | undefined
  beforeAll(async () => {
    while (lock === undefined) {
      lock = await listen()
      if (lock === undefined) await wait(100)
    }
  }, 3_600_000)
  afterAll(() => {
    lock?.close()
  })
}

function listen(): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(name, () => resolve(server.unref()))
  })
}
