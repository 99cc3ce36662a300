import type { ProgressFace, ProgressState } from './progress-state.ts'
import { printable } from './terminal-text.ts'

const pauseMs = 1000

/** One JSON object per line, for programs: at most one update a second. */
export function jsonProgress(stream: NodeJS.WriteStream, read: () => ProgressState): ProgressFace {
  let toldAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const { label, total, done } = read()
  stream.write(jsonLine({ type: 'progress-start', label, total, done }))
  const tell = () => {
    timer = undefined
    toldAt = performance.now()
    stream.write(jsonLine({ type: 'progress-update', ...figures(read()) }))
  }
  return {
    update() {
      timer ??= setTimeout(tell, Math.max(0, toldAt + pauseMs - performance.now())).unref()
    },
    end(summary) {
      clearTimeout(timer)
      stream.write(jsonLine({ type: 'progress-end', ...figures(read()), summary }))
    },
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
