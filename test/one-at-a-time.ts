import { createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'

// A name in the kernel's table and not in the file system, so it goes with the process that holds it.
const name = '\0magic-tests-of-limits'

/**
 * For suites that put load on all cores or measure limits of time: one of them runs at a time, whatever the number of
 * test workers. Others would take the time that an honest program needs to meet its limits.
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
