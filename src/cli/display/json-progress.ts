import { printable } from '../terminal-text.ts'
import type { ProgressClock, ProgressFace, ProgressState } from './progress-state.ts'

const shortestPauseMs = 1000

/** One JSON object per line, for programs: at most one update a second, and always the last one. */
export class JsonProgress implements ProgressFace {
  readonly #stream: NodeJS.WriteStream
  readonly #clock: ProgressClock
  #read: (() => ProgressState) | undefined
  #toldAt = Number.NEGATIVE_INFINITY
  #callOff: (() => void) | undefined

  constructor(stream: NodeJS.WriteStream, clock: ProgressClock) {
    this.#stream = stream
    this.#clock = clock
  }

  start(read: () => ProgressState): void {
    this.#read = read
    this.#toldAt = Number.NEGATIVE_INFINITY
    const { label, total, done } = read()
    this.#write({ type: 'progress-start', label, total, done })
  }

  update(): void {
    if (this.#callOff !== undefined) return
    const pause = this.#toldAt + shortestPauseMs - this.#clock.now()
    if (pause <= 0) this.#tell()
    else this.#callOff = this.#clock.alarm(pause, () => this.#tell())
  }

  note(text: string): void {
    this.#write({ type: 'progress-note', text })
  }

  end(state: ProgressState, summary: string | undefined): void {
    this.#forgetAlarm()
    this.#write({ type: 'progress-end', ...figures(state), ...(summary === undefined ? {} : { summary }) })
  }

  #tell(): void {
    this.#forgetAlarm()
    this.#toldAt = this.#clock.now()
    this.#write({ type: 'progress-update', ...figures(this.#read!()) })
  }

  #forgetAlarm(): void {
    this.#callOff?.()
    this.#callOff = undefined
  }

  #write(event: object): void {
    this.#stream.write(`${printable(JSON.stringify(event))}\n`)
  }
}

function figures({ label, total, done, elapsedMs, perSecond, msLeft, fields }: ProgressState): object {
  return {
    label,
    done,
    total,
    elapsedSeconds: Number((elapsedMs / 1000).toFixed(3)),
    ...(perSecond === undefined ? {} : { perSecond: Number(perSecond.toPrecision(4)) }),
    ...(msLeft === undefined ? {} : { secondsLeft: Number((msLeft / 1000).toFixed(1)) }),
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, typeof field === 'string' ? field : field.value]),
    ),
  }
}
