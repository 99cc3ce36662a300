import type { JsonValue } from '../../library/json-value.ts'
import { chooseDisplay, type Display } from './choose-display.ts'
import { jsonFace, liveFace, type ProgressFace, plainFace } from './progress-faces.ts'
import { type Screen, screenOf } from './screen.ts'

/** What is told besides the count, most important first: the text for people, the name and the value for programs. */
export type ProgressFields = Readonly<Record<string, { readonly text: string; readonly value: JsonValue }>>

/** Where the work is at one moment. */
export interface ProgressState {
  readonly label: string
  readonly total: number
  readonly done: number
  readonly fields: ProgressFields
  readonly elapsedMs: number
  /** Unknown at the beginning. */
  readonly perSecond?: number
  readonly msLeft?: number
}

interface ProgressSettings {
  /** Chosen by the stream where it is left out. */
  readonly display?: Display
  readonly stream?: NodeJS.WriteStream
  readonly screen?: () => Screen
}

/**
 * Shows long work whose amount is known, with one of four faces. Several pieces of work may follow each other. Never
 * throws for what it is told: a display must not end what it displays.
 */
export class Progress {
  readonly #face: ProgressFace | undefined
  #work: { label: string; total: number; done: number; fields: ProgressFields } | undefined
  #samples: { readonly at: number; readonly done: number }[] = []
  #startedAt = 0

  constructor({ display, stream = process.stderr, screen = () => screenOf(stream) }: ProgressSettings = {}) {
    const shown = display ?? chooseDisplay(undefined, stream)
    if (shown === 'live') this.#face = liveFace(stream, screen)
    else if (shown === 'plain') this.#face = plainFace(stream, screen)
    else if (shown === 'json') this.#face = jsonFace(stream)
  }

  /** `done` is where resumed work begins: what was done before says nothing of today's rate. */
  start(total: number, label: string, done = 0): void {
    this.end()
    this.#startedAt = performance.now()
    this.#samples = [{ at: this.#startedAt, done }]
    const work = { label, total, done, fields: {} as ProgressFields }
    this.#work = work
    this.#face?.start(() => ({
      ...work,
      elapsedMs: performance.now() - this.#startedAt,
      ...this.#pace(work),
    }))
  }

  /** Without fields, those of the last update stay. */
  update({ done, fields }: { readonly done: number; readonly fields?: ProgressFields }): void {
    const work = this.#work
    if (work === undefined) return
    if (done !== work.done) this.#sample(done)
    work.done = done
    work.fields = fields ?? work.fields
    this.#face?.update()
  }

  /** Says something apart, of one or several lines, without tearing the view. */
  note(text: string): void {
    this.#face?.note(text)
  }

  /** The summary takes the place of the fields; lines stay lines. Does nothing where no work is under way. */
  end(summary?: string): void {
    if (this.#work !== undefined) this.#face?.end(summary)
    this.#work = undefined
  }

  /** Kept for half a minute, or for the last eight steps where they take longer, so that a slow start is forgotten. */
  #sample(done: number): void {
    const at = performance.now()
    const samples = this.#samples
    if (samples.length > 1 && at - samples.at(-2)!.at < 500) samples.pop()
    samples.push({ at, done })
    while (samples.length > 9 && samples[1]!.at <= at - 30_000) samples.shift()
  }

  /** How fast it went lately; falls while the next step is overdue. */
  #pace({ total, done }: { total: number; done: number }): Pick<ProgressState, 'perSecond' | 'msLeft'> {
    const [first, last] = [this.#samples[0]!, this.#samples.at(-1)!]
    const took = last.at - first.at
    const overdue = Math.max(0, performance.now() - last.at - took / (this.#samples.length - 1))
    const perSecond = ((last.done - first.done) * 1000) / (took + overdue)
    if (!(perSecond > 0) || !Number.isFinite(perSecond)) return {}
    return { perSecond, msLeft: (Math.max(0, total - done) / perSecond) * 1000 }
  }
}
