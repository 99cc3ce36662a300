/** An update that does not end within this time after the caller's signal is given up; what was answered is kept. */
const graceMs = 4000

/** How a run is ended from outside: after the update under way, or, when that takes too long, in the middle of it. */
export class RunEnd implements Disposable {
  readonly #given: AbortSignal | undefined
  readonly #afterUpdate = new AbortController()
  readonly #atOnce = new AbortController()
  readonly #startGrace = () => {
    setTimeout(() => this.#atOnce.abort(this.#given!.reason), graceMs).unref()
  }

  constructor(given: AbortSignal | undefined) {
    this.#given = given
    given?.addEventListener('abort', this.#startGrace, { once: true })
  }

  get afterUpdate(): AbortSignal {
    return this.#afterUpdate.signal
  }

  get atOnce(): AbortSignal {
    return this.#atOnce.signal
  }

  /** To be asked between two updates. */
  endIf(isOver: boolean): void {
    if (isOver || this.#given?.aborted === true) this.#afterUpdate.abort()
  }

  [Symbol.dispose](): void {
    this.#given?.removeEventListener('abort', this.#startGrace)
  }
}
