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

/**
 * Shows long work whose amount is known, with one of four faces. Several pieces of work may follow each other. Never
 * throws for what it is told: a display must not end what it displays.
 */
export class Progress {
  readonly #face: ProgressFace | undefined
  #work: { label: string; total: number; done: number; fields: ProgressFields } | undefined

  /** The display is chosen by the stream where it is left out. */
  constructor({
    display,
    stream = process.stderr,
    screen = () => screenOf(stream),
  }: { display?: Display; stream?: NodeJS.WriteStream; screen?: () => Screen } = {}) {
    const shown = chooseDisplay(display, stream)
    if (shown === 'live') this.#face = liveFace(stream, screen)
    else if (shown === 'plain') this.#face = plainFace(stream, screen)
    else if (shown === 'json') this.#face = jsonFace(stream)
  }

  /** `begun` is where resumed work begins: what was done before says nothing of today's rate. */
  start(total: number, label: string, begun = 0): void {
    this.end()
    const startedAt = performance.now()
    const work = { label, total, done: begun, fields: {} as ProgressFields }
    this.#work = work
    this.#face?.start(() => {
      const elapsedMs = performance.now() - startedAt
      const perSecond = ((work.done - begun) * 1000) / elapsedMs
      if (!(perSecond > 0) || !Number.isFinite(perSecond)) return { ...work, elapsedMs }
      return { ...work, elapsedMs, perSecond, msLeft: (Math.max(0, total - work.done) / perSecond) * 1000 }
    })
  }

  /** Without fields, those of the last update stay. */
  update({ done, fields }: { readonly done: number; readonly fields?: ProgressFields }): void {
    if (this.#work === undefined) return
    this.#work.done = done
    this.#work.fields = fields ?? this.#work.fields
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
}
