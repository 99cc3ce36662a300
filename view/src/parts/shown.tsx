import type { ReactNode } from 'react'
import { money, percent, scoreWithInterval } from '../../../src/cli/display/numbers.ts'
import type { Cost } from '../../../src/models/prices.ts'

// Small parts that several pages use.

export function Status({ of }: { readonly of: 'finished' | 'training' | 'stopped' | 'damaged' }): ReactNode {
  return (
    <span className="pill">
      <i className={`dot ${of}`} />
      {of}
    </span>
  )
}

export function Simulated({ when }: { readonly when: boolean }): ReactNode {
  return when ? (
    <span className="tag" title="The scores are simulated: no language model was called.">
      simulated
    </span>
  ) : null
}

export function Progress({ done, of }: { readonly done: number; readonly of: number }): ReactNode {
  const share = of === 0 ? 1 : Math.min(1, done / of)
  return (
    <span
      className="progress"
      role="progressbar"
      aria-label="updates"
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={of}
    >
      <i style={{ width: `${share * 100}%` }} />
    </span>
  )
}

export interface Interval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** A score on a scale from 0 to 100 %, with its interval. */
export function IntervalBar({ of }: { readonly of: Interval }): ReactNode {
  return (
    <span className="interval" aria-hidden="true">
      <i style={{ left: `${of.low * 100}%`, width: `${(of.high - of.low) * 100}%` }} />
      <b style={{ left: `${of.mean * 100}%` }} />
    </span>
  )
}

export function ScoreText({ of }: { readonly of: Interval }): ReactNode {
  return <span title={`95 % interval: ${scoreWithInterval(of)}`}>{scoreWithInterval(of)}</span>
}

export function costShown(cost: Cost | undefined, simulated: boolean): string {
  if (cost === undefined) return '–'
  return cost === 'unpriced' && simulated ? 'free' : money(cost)
}

export function Problem({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="problem" role="alert">
      {text}
    </div>
  )
}

export function Loading(): ReactNode {
  return (
    <p className="soft" role="status">
      Reading…
    </p>
  )
}

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}): ReactNode {
  return (
    <div className="card empty">
      <svg viewBox="0 0 120 60" aria-hidden="true">
        <path d="M30 14 C60 14 60 30 84 30 M30 46 C60 46 60 30 84 30" />
        <rect x="6" y="6" width="24" height="16" rx="4" />
        <rect x="6" y="38" width="24" height="16" rx="4" />
        <rect x="84" y="20" width="30" height="20" rx="10" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Card({
  title,
  note,
  flush = false,
  children,
}: {
  readonly title: string
  readonly note?: ReactNode
  readonly flush?: boolean
  readonly children: ReactNode
}): ReactNode {
  return (
    <section className={flush ? 'card flush' : 'card'} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <span className="note">{note}</span>}
      </header>
      {children}
    </section>
  )
}

export function Tile({
  name,
  value,
  note,
}: {
  readonly name: string
  readonly value: ReactNode
  readonly note?: ReactNode
}): ReactNode {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <div className="note">{note}</div>}
      </dd>
    </div>
  )
}

export function scoreOf(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : percent(score)
}
