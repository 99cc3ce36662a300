import type { JsonValue } from '../../library/json-value.ts'
import { duration, rate } from './numbers.ts'

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
  readonly perSecond: number | undefined
  readonly msLeft: number | undefined
}

/** Shows one piece of work, whose state it can ask for at any time. */
export interface ProgressFace {
  update(): void
  end(summary: string | undefined): void
  /** Writes something that stays, for a face that paints in place. */
  above?(text: string): void
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
  return Object.values(fields).map(({ text }) => text)
}

export function rateText({ perSecond }: ProgressState): string {
  return perSecond === undefined ? '' : rate(perSecond)
}

export function leftText({ msLeft, done, total }: ProgressState): string {
  if (msLeft === undefined || done >= total) return ''
  // An estimate: tenths of seconds would only flicker.
  const seconds = Math.max(1, Math.round(msLeft / 1000))
  return `${seconds < 60 ? `${seconds} s` : duration(seconds * 1000)} left`
}
