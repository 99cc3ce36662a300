/**
 * Lets everyone who wants the same thing at the same time wait for one piece of work. Nothing is remembered once it has
 * ended: after a failure the next asker tries again. An asker who leaves takes nobody along; the work is told to stop when
 * the last one has left.
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>()

  /** `led`: this asker's work is the one that was done. */
  async run(
    key: string,
    work: (signal: AbortSignal) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<{ readonly value: Value; readonly led: boolean }> {
    signal?.throwIfAborted()
    const joined = this.#flights.get(key)
    const flight = joined ?? this.#start(key, work)
    flight.askers += 1
    try {
      return { value: await unlessAborted(flight.result, signal), led: joined === undefined }
    } finally {
      flight.askers -= 1
      if (flight.askers === 0 && this.#forget(key, flight)) flight.abort.abort()
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const abort = new AbortController()
    const result = Promise.resolve().then(() => work(abort.signal))
    const flight: Flight<Value> = { result, abort, askers: 0 }
    this.#flights.set(key, flight)
    const ended = () => void this.#forget(key, flight)
    result.then(ended, ended)
    return flight
  }

  /** False if it had ended already: then another flight may have its key. */
  #forget(key: string, flight: Flight<Value>): boolean {
    return this.#flights.get(key) === flight && this.#flights.delete(key)
  }
}

interface Flight<Value> {
  readonly result: Promise<Value>
  readonly abort: AbortController
  askers: number
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
