import type { Cost } from '../../models/prices.ts'

/** Shown in place of a missing number. */
const none = '–'

/** `62.5 %` */
export function percent(share: number): string {
  return Number.isFinite(share) ? `${points(share)} %` : none
}

export interface Interval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** `62.5 % [55.1, 69.3]` */
export function scoreWithInterval({ mean, low, high }: Interval): string {
  return Number.isFinite(mean) ? `${percent(mean)} [${points(low)}, ${points(high)}]` : none
}

/** A difference of scores in percentage points: `+4.2 [-1.0, +9.4]` */
export function differenceWithInterval({ mean, low, high }: Interval): string {
  return Number.isFinite(mean) ? `${signed(mean)} [${signed(low)}, ${signed(high)}]` : none
}

function signed(share: number): string {
  const text = points(share)
  return Number(text) > 0 ? `+${text}` : text
}

function points(share: number): string {
  if (!Number.isFinite(share)) return none
  const text = (share * 100).toFixed(1)
  // No minus sign on a number that rounds to zero.
  return Number(text) === 0 ? '0.0' : text
}

const scales = ['', ' k', ' M', ' G', ' T']

/** A count with three digits: `812`, `12.3 k`, `1.23 M` */
export function tokens(count: number): string {
  if (!Number.isFinite(count)) return none
  let value = Math.abs(count)
  let scale = 0
  // 999.5 rounds up to the next scale.
  while (value >= 999.5 && scale < scales.length - 1) {
    value /= 1000
    scale += 1
  }
  const isSmall = scale > 0 && value < 999.5
  return `${count < 0 ? '-' : ''}${isSmall ? value.toPrecision(3) : value.toFixed(0)}${scales[scale]}`
}

/** `0.4 s`, `45 s`, `1 m 23 s`, `2 h 05 m`, `3 d 4 h` */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return none
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${twoDigits(whole % 60)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`
  const hours = Math.round(seconds / 3600)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** `12/s`, `1.3/s`, `20/min`, `4.0/h` */
export function rate(perSecond: number): string {
  if (!Number.isFinite(perSecond) || perSecond <= 0) return none
  const units = [
    [perSecond, 's'],
    [perSecond * 60, 'min'],
    [perSecond * 3600, 'h'],
  ] as const
  const [value, unit] = units.find(([amount]) => amount >= 0.95) ?? units[2]
  return `${value < 9.95 ? value.toFixed(1) : tokens(value)}/${unit}`
}

// Yen and yuan share a sign; here it stands for the yuan, and yen are written as JPY.
const signs: Readonly<Record<string, string>> = { CNY: '¥', USD: '$', EUR: '€', GBP: '£' }

/** `¥0.42`, `CHF 1,200.00`, `¥0.00031`: small amounts get enough digits not to look like zero. */
export function money(cost: Cost): string {
  if (cost === 'unpriced') return cost
  const { amount, currency } = cost
  const size = Math.abs(amount)
  if (!Number.isFinite(size)) return none
  const digits = size === 0 || size >= 0.01 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(size)))
  const figure = size.toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return `${amount < 0 ? '-' : ''}${signs[currency] ?? `${currency} `}${figure}`
}
