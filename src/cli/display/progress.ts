import { chooseDisplay, type Display } from './choose-display.ts'
import { jsonLine, jsonProgress } from './json-progress.ts'
import { liveProgress } from './live-progress.ts'
import { plainProgress } from './plain-progress.ts'
import type { ProgressFace, ProgressFields, ProgressState } from './progress-state.ts'
import { RecentRate } from './recent-rate.ts'
import { type Screen, screenOf, shownText, wrapText } from './screen.ts'

export interface ProgressSettings {
  /** Chosen by the stream where it is left out. */
  readonly display?: Display
  readonly stream?: NodeJS.WriteStream
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
  readonly #display: Display
  readonly #stream: NodeJS.WriteStream
  readonly #screen: () => Screen
  #face: ProgressFace | undefined
  #work = { label: '', total: 0, done: 0, fields: {} as ProgressFields, startedAt: 0 }
  #rate = new RecentRate(0, 0)

  constructor({ display, stream = process.stderr, screen }: ProgressSettings = {}) {
    this.#display = display ?? chooseDisplay(undefined, stream)
    this.#stream = stream
    this.#screen = screen ?? (() => screenOf(stream))
  }

  /** `done` is where resumed work begins: what was done before says nothing of today's rate. */
  start(total: number, label: string, done = 0): void {
    this.end()
    const startedAt = performance.now()
    this.#work = { label, total, done, fields: {}, startedAt }
    this.#rate = new RecentRate(startedAt, done)
    this.#face = this.#openFace(() => this.#state())
  }

  update({ done, fields }: ProgressUpdate): void {
    if (this.#face === undefined) return
    this.#work.done = done
    if (fields !== undefined) this.#work.fields = fields
    this.#rate.add(performance.now(), done)
    this.#face.update()
  }

  /** Says something apart, of one or several lines, without tearing the view. */
  note(text: string): void {
    if (this.#display === 'none') return
    const note = this.#display === 'json' ? jsonLine({ type: 'progress-note', text }) : this.#lines(text)
    if (this.#face?.above === undefined) this.#stream.write(note)
    else this.#face.above(note)
  }

  /** The summary takes the place of the fields; lines stay lines. Does nothing where no work is under way. */
  end(summary?: string): void {
    this.#face?.end(summary)
    this.#face = undefined
  }

  #lines(text: string): string {
    const screen = this.#screen()
    const lines = text.split('\n').map((line) => wrapText(shownText(line, screen), screen))
    return `${lines.join('\n')}\n`
  }

  #state(): ProgressState {
    const { startedAt, ...work } = this.#work
    const now = performance.now()
    const perSecond = this.#rate.perSecond(now)
    const msLeft = perSecond && (Math.max(0, work.total - work.done) / perSecond) * 1000
    return { ...work, elapsedMs: now - startedAt, perSecond, msLeft }
  }

  #openFace(read: () => ProgressState): ProgressFace | undefined {
    if (this.#display === 'live') return liveProgress(this.#stream, read, this.#screen)
    if (this.#display === 'plain') return plainProgress(this.#stream, read, this.#screen())
    return this.#display === 'json' ? jsonProgress(this.#stream, read) : undefined
  }
}
