import { chooseDisplay, type Display } from './choose-display.ts'
import { JsonProgress } from './json-progress.ts'
import { LiveProgress } from './live-progress.ts'
import { PlainProgress } from './plain-progress.ts'
import type { ProgressClock, ProgressFace, ProgressFields, ProgressState } from './progress-state.ts'
import { RecentRate } from './recent-rate.ts'
import { type Screen, screenOf } from './screen.ts'

export interface ProgressSettings {
  /** Chosen by the stream where it is left out. */
  readonly display?: Display
  readonly stream?: NodeJS.WriteStream
  readonly clock?: ProgressClock
  readonly screen?: () => Screen
}

export interface ProgressUpdate {
  readonly done: number
  /** Those of the last update where they are left out. */
  readonly fields?: ProgressFields
}

/**
 * Shows long work whose amount is known, with one of four faces. Several pieces of work may follow each other. Never
 * throws for what it is told: a display must not end what it displays.
 */
export class Progress {
  readonly #face: ProgressFace | undefined
  readonly #clock: ProgressClock
  #work: { label: string; total: number; done: number; fields: ProgressFields; startedAt: number } | undefined
  #rate = new RecentRate(0, 0)

  constructor({ display, stream = process.stderr, clock = realClock, screen }: ProgressSettings = {}) {
    this.#clock = clock
    this.#face = openFace(
      display ?? chooseDisplay(undefined, stream),
      stream,
      clock,
      screen ?? (() => screenOf(stream)),
    )
  }

  /** `done` is where resumed work begins: what was done before says nothing of today's rate. */
  start(total: number, label: string, done = 0): void {
    this.end()
    const startedAt = this.#clock.now()
    this.#work = { label, total, done, fields: {}, startedAt }
    this.#rate = new RecentRate(startedAt, done)
    this.#face?.start(() => this.#state())
  }

  update({ done, fields }: ProgressUpdate): void {
    if (this.#work === undefined) return
    this.#work.done = done
    if (fields !== undefined) this.#work.fields = fields
    this.#rate.add(this.#clock.now(), done)
    this.#face?.update()
  }

  /** Says something apart, of one or several lines, without tearing the view. */
  note(text: string): void {
    this.#face?.note(text)
  }

  /** The summary takes the place of the fields; lines stay lines. Does nothing where no work is under way. */
  end(summary?: string): void {
    if (this.#work === undefined) return
    const state = this.#state()
    this.#work = undefined
    this.#face?.end(state, summary)
  }

  #state(): ProgressState {
    const { label, total, done, fields, startedAt } = this.#work!
    const now = this.#clock.now()
    const perSecond = this.#rate.perSecond(now)
    const msLeft = perSecond === undefined ? undefined : (Math.max(0, total - done) / perSecond) * 1000
    return { label, total, done, fields, elapsedMs: now - startedAt, perSecond, msLeft }
  }
}

function openFace(
  display: Display,
  stream: NodeJS.WriteStream,
  clock: ProgressClock,
  screen: () => Screen,
): ProgressFace | undefined {
  if (display === 'live') return new LiveProgress(stream, clock, screen)
  if (display === 'plain') return new PlainProgress(stream, screen(), clock)
  return display === 'json' ? new JsonProgress(stream, clock) : undefined
}

/** Never keeps the process alive: the work does. */
const realClock: ProgressClock = {
  now: () => performance.now(),
  alarm: (ms, action) => {
    const timer = setTimeout(action, ms).unref()
    return () => clearTimeout(timer)
  },
}
