/** Stores values by key. The first value under a key wins. */
export interface Shelf<Value, Key = string> {
  find(key: Key, signal: AbortSignal): Promise<Value | undefined>
  /** Returns the stored value, which may come from another writer. Durable once resolved. */
  keep(key: Key, value: Value): Promise<Value>
  /** Called if `find` found nothing and no value will be stored. */
  forgo?(key: Key): Promise<void>
}

export interface Made<Value> {
  readonly value: Value
  /** Whether the value is final, so that making it again would give the same. */
  readonly keep: boolean
}

export interface Found<Value> {
  readonly value: Value
  /** `made` for exactly one of the callers that shared the work, so that its cost is counted once. */
  readonly origin: 'kept' | 'made' | 'shared'
  /** Whether the value is stored on the shelf. */
  readonly isKept: boolean
}

export type Make<Value> = (signal: AbortSignal) => Promise<Made<Value>>

/** `Once` as executions see it, without the storage behind it. */
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
 * Makes each value once. A value comes from the shelf if it is there, else from identical work in flight, else it is
 * made and stored. Failures go to everyone waiting and are not stored. Work is shared within one `Once`, so use one
 * per shelf.
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
   * A caller that aborts is rejected with its signal's reason, and the work continues for the others. If the last
   * caller aborts, the work is told to stop and the caller still gets its outcome, so that paid calls are counted.
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

  /** Checked, because another flight may have taken the name by now. */
  #forget(name: string, flight: Flight<Value>): void {
    if (this.#flights.get(name) === flight) this.#flights.delete(name)
  }
}

/** A shelf in memory. Once full, it drops the oldest value. */
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
