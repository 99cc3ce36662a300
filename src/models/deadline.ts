import { type ChatFailure, type ChatReply, cancelled } from './chat-model.ts'
import { type Clock, setAlarm, systemClock } from './clock.ts'

export type Ending = 'timeout' | 'aborted'

/**
 * Runs work that always ends: by itself, at the deadline or on the signal, even if it ignores the signal it is given.
 * A late result is dropped; `cutOff` supplies another in its place.
 */
export function withDeadline<Result, Late = Ending>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
  clock: Clock = systemClock,
  cutOff: (how: Ending) => Late = (how) => how as Late,
): Promise<Result | Late> {
  if (signal?.aborted) return Promise.resolve(cutOff('aborted'))
  const { promise, resolve, reject } = Promise.withResolvers<Result | Late>()
  const own = new AbortController()
  const cut = new Cut(ms, signal, clock, (how) => {
    resolve(cutOff(how))
    own.abort()
  })
  const fail = (error: unknown) => {
    cut.callOff()
    reject(error)
  }
  try {
    work(own.signal).then((result) => {
      cut.callOff()
      resolve(result)
    }, fail)
  } catch (error) {
    fail(error)
  }
  return promise
}

/**
 * Acts once, at a deadline or on a signal, unless called off. Afterwards it refers to nothing: the signal's removed
 * listener may be reachable until the next full garbage collection, and all calls of an execution would be with it.
 */
class Cut {
  #act: ((how: Ending) => void) | undefined
  #signal: AbortSignal | undefined
  #cancelAlarm: (() => void) | undefined

  constructor(ms: number, signal: AbortSignal | undefined, clock: Clock, act: (how: Ending) => void) {
    this.#act = act
    this.#signal = signal
    this.#cancelAlarm = setAlarm(clock, ms, () => this.#reach('timeout'))
    signal?.addEventListener('abort', this.#abort, { once: true })
  }

  callOff(): void {
    this.#cancelAlarm?.()
    this.#signal?.removeEventListener('abort', this.#abort)
    this.#act = undefined
    this.#signal = undefined
    this.#cancelAlarm = undefined
  }

  readonly #abort = () => this.#reach('aborted')

  #reach(how: Ending): void {
    const act = this.#act
    this.callOff()
    act?.(how)
  }
}

/** One attempt at a model. A timeout or cancellation becomes a failed reply. */
export function askInTime(
  ms: number,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<ChatReply>,
  clock?: Clock,
): Promise<ChatReply> {
  if (signal?.aborted) return Promise.resolve({ ...cancelled, unsent: true })
  const start = performance.now()
  return withDeadline(ms, signal, ask, clock, (how): ChatFailure => {
    const durationMs = performance.now() - start
    if (how === 'aborted') return { ...cancelled, durationMs }
    return { ok: false, kind: 'timeout', message: `No complete answer within ${ms / 1000} s.`, durationMs }
  })
}
