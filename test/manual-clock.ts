import type { Clock } from '../src/models/clock.ts'

/** Time that stands still until advanced. */
export class ManualClock implements Clock {
  #now = 0
  readonly #alarms = new Set<{ readonly at: number; readonly action: () => void }>()

  get pending(): number {
    return this.#alarms.size
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.alarm(ms, resolve)
      signal?.addEventListener('abort', () => {
        callOff()
        resolve()
      })
    })
  }

  alarm(ms: number, action: () => void): () => void {
    const alarm = { at: this.#now + ms, action }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  /** Everything that is due happens, including what follows from it. */
  async advance(ms: number): Promise<void> {
    this.#now += ms
    for (const alarm of this.#alarms) {
      if (alarm.at > this.#now) continue
      this.#alarms.delete(alarm)
      alarm.action()
    }
    await settled()
  }
}

/** Resolves when only timers and sockets are left to wait for. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
