import { duration } from './numbers.ts'
import {
  fieldTexts,
  leftText,
  type ProgressFace,
  type ProgressState,
  rateText,
  shareDone,
  wholePercent,
} from './progress-state.ts'
import { type Screen, shownText } from './screen.ts'

const longestSilenceMs = 30_000

/** Few lines, each with all there is to know: after the first item, every quarter, and half a minute of silence. */
export class PlainProgress implements ProgressFace {
  readonly #stream: NodeJS.WriteStream
  readonly #read: () => ProgressState
  readonly #screen: Screen
  readonly #begun: number
  #quarter: number
  #told: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stream: NodeJS.WriteStream, read: () => ProgressState, screen: Screen) {
    this.#stream = stream
    this.#read = read
    this.#screen = screen
    this.#begun = read().done
    this.#quarter = quarterOf(read())
    this.#wait()
  }

  update(): void {
    const state = this.#read()
    const isFirst = this.#told === undefined && state.done > this.#begun
    if (isFirst || quarterOf(state) > this.#quarter) this.#tell(state)
  }

  end(summary: string | undefined): void {
    clearTimeout(this.#timer)
    const state = this.#read()
    const { done, total, elapsedMs } = state
    const end = `${done >= total ? 'done' : 'stopped'}, ${done}/${total} in ${duration(elapsedMs)}`
    // The last quarter has told the fields already.
    const fields = this.#told === done ? [] : fieldTexts(state)
    this.#write(state, [end, ...(summary?.split('\n') ?? fields)])
  }

  #tell(state: ProgressState): void {
    this.#quarter = quarterOf(state)
    this.#told = state.done
    const count = `${state.done}/${state.total}`
    this.#write(state, [count, wholePercent(state), rateText(state), leftText(state), ...fieldTexts(state)])
    this.#wait()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tell(this.#read()), longestSilenceMs).unref()
  }

  #write({ label }: ProgressState, parts: readonly string[]): void {
    const shown = parts.filter((part) => part !== '').map((part) => shownText(part, this.#screen))
    const name = shownText(label, this.#screen)
    this.#stream.write(`${name === '' ? '' : `${name}: `}${shown.join(', ')}\n`)
  }
}

function quarterOf(state: ProgressState): number {
  return Math.floor(shareDone(state) * 4)
}
