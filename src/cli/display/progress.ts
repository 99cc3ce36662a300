import type { JsonValue } from '../../library/json-value.ts'
import { chooseDisplay, type Display } from './choose-display.ts'
import { jsonFace, liveFace, type ProgressFace, plainFace } from './progress-faces.ts'
import { type Screen, screenOf } from './screen.ts'

/** Values shown beside the count, most important first: `text` for people, name and `value` for programs. */
export type ProgressFields = Readonly<Record<string, { readonly text: string; readonly value: JsonValue }>>

/** The state of the work at one moment. */
export interface ProgressState {
  readonly label: string
  readonly total: number
  readonly done: number
  readonly fields: ProgressFields
  readonly elapsedMs: number
  /** Unknown at first. */
  readonly perSecond?: number
  readonly msLeft?: number
}

/**
 * Shows long work of known size, with one of four displays; one piece of work may follow another. Never throws for odd
 * input: a display must not stop the work it displays.
 */
export class Progress {
  readonly #face: ProgressFace | undefined
  #work: { label: string; total: number; done: number; fields: ProgressFields } | undefined

  /** Without `display`, the stream decides. */
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

  /** `begun`: what was done before a resume, which does not count for the rate. */
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

  /** Without `fields`, the last ones stay. */
  update({ done, fields }: { readonly done: number; readonly fields?: ProgressFields }): void {
    if (this.#work === undefined) return
    this.#work.done = done
    this.#work.fields = fields ?? this.#work.fields
    this.#face?.update()
  }

  /** Prints one or more separate lines without disturbing the display. Wrapped lines continue at the indent. */
  note(text: string, indent = ''): void {
    this.#face?.note(text, indent)
  }

  /** The summary replaces the fields. Does nothing if no work is in progress. */
  end(summary?: string): void {
    if (this.#work !== undefined) this.#face?.end(summary)
    this.#work = undefined
  }
}
