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

/** A few full lines: after the first item, at every quarter, and after half a minute of silence. */
export function plainProgress(
  stream: NodeJS.WriteStream,
  read: () => ProgressState,
  screen: Screen,
): ProgressFace {
  const begun = read().done
  let quarter = quarterOf(read())
  let told: number | undefined
  let timer: NodeJS.Timeout | undefined

  const write = ({ label }: ProgressState, parts: readonly string[]) => {
    const shown = parts.filter((part) => part !== '').map((part) => shownText(part, screen))
    const name = shownText(label, screen)
    stream.write(`${name === '' ? '' : `${name}: `}${shown.join(', ')}\n`)
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => tell(read()), longestSilenceMs).unref()
  }
  const tell = (state: ProgressState) => {
    quarter = quarterOf(state)
    told = state.done
    const count = `${state.done}/${state.total}`
    write(state, [count, wholePercent(state), rateText(state), leftText(state), ...fieldTexts(state)])
    wait()
  }
  wait()
  return {
    update() {
      const state = read()
      const isFirst = told === undefined && state.done > begun
      if (isFirst || quarterOf(state) > quarter) tell(state)
    },
    end(summary) {
      clearTimeout(timer)
      const state = read()
      const { done, total, elapsedMs } = state
      const end = `${done >= total ? 'done' : 'stopped'}, ${done}/${total} in ${duration(elapsedMs)}`
      // The last quarter has told the fields already.
      const fields = told === done ? [] : fieldTexts(state)
      write(state, [end, ...(summary?.split('\n') ?? fields)])
    },
  }
}

function quarterOf(state: ProgressState): number {
  return Math.floor(shareDone(state) * 4)
}
