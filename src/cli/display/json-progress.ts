import type { ProgressFace, ProgressState } from './progress-state.ts'
import { printable } from './terminal-text.ts'

const pauseMs = 1000

/** One JSON object per line, for programs: at most one update a second. */
export class JsonProgress implements ProgressFace {
  readonly #stream: NodeJS.WriteStream
  readonly #read: () => ProgressState
  #toldAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(stream: NodeJS.WriteStream, read: () => ProgressState) {
    this.#stream = stream
    this.#read = read
    const { label, total, done } = read()
    stream.write(jsonLine({ type: 'progress-start', label, total, done }))
  }

  update(): void {
    const pause = Math.max(0, this.#toldAt + pauseMs - performance.now())
    this.#timer ??= setTimeout(() => this.#tell(), pause).unref()
  }

  end(summary: string | undefined): void {
    clearTimeout(this.#timer)
    this.#stream.write(jsonLine({ type: 'progress-end', ...figures(this.#read()), summary }))
  }

  #tell(): void {
    this.#timer = undefined
    this.#toldAt = performance.now()
    this.#stream.write(jsonLine({ type: 'progress-update', ...figures(this.#read()) }))
  }
}

export function jsonLine(event: object): string {
  return `${printable(JSON.stringify(event))}\n`
}

/** What is not known yet is left out. */
function figures({ label, total, done, elapsedMs, perSecond, msLeft, fields }: ProgressState): object {
  return {
    label,
    done,
    total,
    elapsedSeconds: Number((elapsedMs / 1000).toFixed(3)),
    perSecond: perSecond && Number(perSecond.toPrecision(4)),
    secondsLeft: msLeft && Number((msLeft / 1000).toFixed(1)),
    fields: Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])),
  }
}
