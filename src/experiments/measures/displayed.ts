// How figures are compared and displayed in every table: values within 1e-9 are equal, two decimals, rounding half
// up.

const equalWithin = 1e-9

export function isBelow(a: number, b: number): boolean {
  return a < b - equalWithin
}

/** For sorting, ascending. */
export function compareFigures(a: number, b: number): number {
  return isBelow(a, b) ? -1 : isBelow(b, a) ? 1 : 0
}

/** `83.13` for 83.125. A sum just below a half due to rounding errors counts as a half. */
export function twoDecimals(value: number): string {
  const hundredths = Math.floor(Math.abs(value) * 100 * (1 + 1e-12) + 0.5)
  const text = (hundredths / 100).toFixed(2)
  return value < 0 && hundredths > 0 ? `-${text}` : text
}

/** `↑4.50`, `↓44.76%`, or `=0.00` if it rounds to zero. */
export function changeText(change: number, unit = ''): string {
  const text = twoDecimals(Math.abs(change))
  const mark = text === '0.00' ? '=' : change > 0 ? '↑' : '↓'
  return `${mark}${text}${unit}`
}

/** Two significant digits: `6.2×10^5`. */
export function tokensText(tokens: number): string {
  if (tokens === 0) return '0'
  let exponent = Math.floor(Math.log10(tokens))
  let tenths = Math.floor((tokens / 10 ** exponent) * 10 + 0.5 + equalWithin)
  // 9.96 rounds to 10.0, which is 1.0 of the next power.
  if (tenths >= 100) {
    exponent += 1
    tenths = 10
  }
  return `${(tenths / 10).toFixed(1)}×10^${exponent}`
}

/** `100·(value/base − 1)`; null if the base is 0. */
export function percentChange(value: number, base: number): number | null {
  return base === 0 ? null : 100 * (value / base - 1)
}

export type Mark = 'best' | 'second'

/** The best and the second-best distinct value of a column. Equal values share a mark. */
export function marks(values: readonly number[], isHigherBetter: boolean): (Mark | null)[] {
  const sign = isHigherBetter ? 1 : -1
  const goodness = values.map((value) => sign * value)
  const best = Math.max(...goodness)
  const second = Math.max(...goodness.filter((value) => isBelow(value, best)))
  return goodness.map((value) => (!isBelow(value, best) ? 'best' : !isBelow(value, second) ? 'second' : null))
}
