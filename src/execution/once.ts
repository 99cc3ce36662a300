/** Where values stay, by key. The first one under a key stays. */
export interface Shelf<Value, Key = string> {
  find(key: Key, signal: AbortSignal): Promise<Value | undefined>
  /** Gives what stays, which may be somebody else's. It is safe once this has resolved. */
  keep(key: Key, value: Value): Promise<Value>
  /** What was looked for in vain will not be kept by this asker. */
  forgo?(key: Key): Promise<void>
}

export interface Made<Value> {
  readonly value: Value
  /** Whether asking again could only repeat it. */
  readonly keep: boolean
}

export interface Found<Value> {
  readonly value: Value
  /** `made` for exactly one of those who waited for the same work, so that its cost is counted once. */
  readonly origin: 'kept' | 'made' | 'shared'
  /** Whether it is on the shelf. */
  readonly isKept: boolean
}

export type Make<Value> = (signal: AbortSignal) => Promise<Made<Value>>

/** What an execution asks through, without knowing where things are kept. */
export interface Memory<Value, Key = string> {
  once(key: Key, make: Make<Value>, signal?: AbortSignal): Promise<Found<Value>>
}

interface Flight<Value> {
  readonly result: Promise<Omit<Found<Value>, 'origin'> & { readonly isNew: boolean }>
  readonly abort: AbortController
  askers: number
  isClaimed: boolean
}

/**
 * Makes each thing once: it is taken from the shelf if it is there, else from identical work in flight, else it is made and
 * kept. Failures are shared by those who wait and then forgotten. One `Once` per shelf: work is shared within it.
 */
export class Once<Value, Key = string> implements Memory<Value, Key> {
  readonly #shelf: Shelf<Value, Key>
  readonly #nameOf: (key: Key) => string
  readonly #flights = new Map<string, Flight<Value>>()

  /** `nameOf` gives equal keys equal names. */
  constructor(shelf: Shelf<Value, Key>, nameOf: (key: Key) => string = String) {
    this.#shelf = shelf
    this.#nameOf = nameOf
  }

  /**
   * An asker whose signal comes is rejected with its reason, and the work goes on for the others. The last one cannot leave:
   * it tells the work to stop and gets what that still brings, so that what was paid for is counted.
   */
  async once(key: Key, make: Make<Value>, signal?: AbortSignal): Promise<Found<Value>> {
    signal?.throwIfAborted()
    const name = this.#nameOf(key)
    const flight = this.#flights.get(name) ?? this.#start(name, key, make)
    flight.askers += 1
    const left = Promise.withResolvers<never>()
    const leave = () => {
      flight.askers -= 1
      if (flight.askers > 0) return left.reject(signal!.reason)
      this.#forget(name, flight)
      flight.abort.abort(signal!.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      const { value, isNew, isKept } = await Promise.race([flight.result, left.promise])
      const origin = !isNew ? 'kept' : flight.isClaimed ? 'shared' : 'made'
      flight.isClaimed = true
      return { value, origin, isKept }
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  #start(name: string, key: Key, make: Make<Value>): Flight<Value> {
    const abort = new AbortController()
    const result = this.#findOrMake(key, make, abort.signal)
    const flight = { result, abort, askers: 0, isClaimed: false }
    this.#flights.set(name, flight)
    const ended = () => this.#forget(name, flight)
    result.then(ended, ended)
    return flight
  }

  async #findOrMake(key: Key, make: Make<Value>, signal: AbortSignal) {
    const known = await this.#shelf.find(key, signal)
    if (known !== undefined) return { value: known, isNew: false, isKept: true }
    let isKept = false
    try {
      const { value, keep } = await make(signal)
      if (!keep) return { value, isNew: true, isKept }
      const kept = await this.#shelf.keep(key, value)
      isKept = true
      return { value: kept, isNew: true, isKept }
    } finally {
      if (!isKept) await this.#shelf.forgo?.(key)
    }
  }

  /** Another flight may have its name by now. */
  #forget(name: string, flight: Flight<Value>): void {
    if (this.#flights.get(name) === flight) this.#flights.delete(name)
  }
}

/** A shelf that ends with the process. Beyond its size the oldest values go. */
export class MemoryShelf<Value> implements Shelf<Value> {
  readonly #values = new Map<string, Value>()
  readonly #size: number

  constructor(size = Number.POSITIVE_INFINITY) {
    this.#size = size
  }

  get size(): number {
    return this.#values.size
  }

  async find(key: string): Promise<Value | undefined> {
    return this.#values.get(key)
  }

  async keep(key: string, value: Value): Promise<Value> {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    if (this.#values.size >= this.#size) this.#values.delete(this.#values.keys().next().value!)
    this.#values.set(key, value)
    return value
  }
}
