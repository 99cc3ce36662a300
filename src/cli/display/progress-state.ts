import type { JsonValue } from '../../library/json-value.ts'
import { duration, rate } from './numbers.ts'

/**
 * What is told besides the count. The text is shown as it is (`score 0.62`); the name and the value are for programs. The
 * most important come first.
 */
export type ProgressFields = Readonly<
  Record<string, string | { readonly text: string; readonly value: JsonValue }>
>

/** Where the work is at one moment. */
export interface ProgressState {
  readonly label: string
  readonly total: number
  readonly done: number
  readonly fields: ProgressFields
  readonly elapsedMs: number
  /** Unknown at the beginning. */
  readonly perSecond: number | undefined
  readonly msLeft: number | undefined
}

/** Shows the work; asks for its state whenever it wants to. */
export interface ProgressFace {
  start(read: () => ProgressState): void
  update(): void
  note(text: string): void
  end(state: ProgressState, summary: string | undefined): void
}

/** Time that faces can be woken by. */
export interface ProgressClock {
  /** Milliseconds. */
  now(): number
  /** Does something after this time unless it is called off first. */
  alarm(ms: number, action: () => void): () => void
}

/** From 0 to 1, whatever was counted. */
export function shareDone({ done, total }: ProgressState): number {
  return total > 0 ? Math.min(1, Math.max(0, done / total || 0)) : 1
}

/** Rounded down: 100 % is when all is done. */
export function wholePercent(state: ProgressState): string {
  return `${Math.floor(shareDone(state) * 100)} %`
}

export function fieldTexts({ fields }: ProgressState): string[] {
  return Object.values(fields).map((field) => (typeof field === 'string' ? field : field.text))
}

export function rateText({ perSecond }: ProgressState): string {
  return perSecond === undefined ? '' : rate(perSecond)
}

export function leftText({ msLeft }: ProgressState): string {
  if (msLeft === undefined) return ''
  // An estimate: tenths of seconds would only flicker.
  const seconds = Math.max(1, Math.round(msLeft / 1000))
  return `${seconds < 60 ? `${seconds} s` : duration(seconds * 1000)} left`
}
