import { printable } from '../terminal-text.ts'
import { duration } from './numbers.ts'
import {
  fieldTexts,
  leftText,
  type ProgressClock,
  type ProgressFace,
  type ProgressState,
  rateText,
  shareDone,
  wholePercent,
} from './progress-state.ts'
import { type Screen, shownText } from './screen.ts'

const longestSilenceMs = 30_000

/** Few lines, each with all there is to know: at the first item, at every quarter, and after half a minute of silence. */
export class PlainProgress implements ProgressFace {
  readonly #stream: NodeJS.WriteStream
  readonly #screen: Screen
  readonly #clock: ProgressClock
  #read: (() => ProgressState) | undefined
  #begun = 0
  #quarter = 0
  #told: number | undefined
  #callOff: (() => void) | undefined

  constructor(stream: NodeJS.WriteStream, screen: Screen, clock: ProgressClock) {
    this.#stream = stream
    this.#screen = screen
    this.#clock = clock
  }

  start(read: () => ProgressState): void {
    this.#read = read
    const state = read()
    this.#begun = state.done
    this.#quarter = quarterOf(state)
    this.#told = undefined
    this.#wait()
  }

  update(): void {
    const state = this.#read!()
    const quarter = quarterOf(state)
    const isFirst = this.#told === undefined && state.done > this.#begun
    if (isFirst || quarter > this.#quarter) this.#tell(state)
  }

  note(text: string): void {
    this.#stream.write(`${printable(text)}\n`)
  }

  end(state: ProgressState, summary: string | undefined): void {
    this.#callOff?.()
    const { done, total, elapsedMs } = state
    // The last quarter has told the fields already.
    const isNews = this.#told !== done
    const end = `${done >= total ? 'done' : 'stopped'}, ${done}/${total} in ${duration(elapsedMs)}`
    this.#line(state, [
      end,
      ...(summary !== undefined ? summary.split('\n') : isNews ? fieldTexts(state) : []),
    ])
  }

  #tell(state: ProgressState): void {
    this.#quarter = quarterOf(state)
    this.#told = state.done
    const count = `${state.done}/${state.total}`
    const left = state.done < state.total ? leftText(state) : ''
    this.#line(state, [count, wholePercent(state), rateText(state), left, ...fieldTexts(state)])
    this.#wait()
  }

  #wait(): void {
    this.#callOff?.()
    this.#callOff = this.#clock.alarm(longestSilenceMs, () => this.#tell(this.#read!()))
  }

  #line({ label }: ProgressState, parts: readonly string[]): void {
    const shown = parts.filter((part) => part !== '').map((part) => shownText(part, this.#screen))
    const name = shownText(label, this.#screen)
    this.#stream.write(`${name === '' ? '' : `${name}: `}${shown.join(', ')}\n`)
  }
}

function quarterOf(state: ProgressState): number {
  return Math.floor(shareDone(state) * 4)
}
