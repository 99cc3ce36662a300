// Both use the recurrence up to 8, then Stirling's series.

/** ln Γ(x) for x > 0. */
export function logGamma(x: number): number {
  let shift = 0
  let z = x
  for (; z < 8; z += 1) shift += Math.log(z)
  const r = 1 / (z * z)
  const series = (1 / z) * (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188))))
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift
}

/** The derivative of ln Γ at x > 0. */
export function digamma(x: number): number {
  let shift = 0
  let z = x
  for (; z < 8; z += 1) shift += 1 / z
  const r = 1 / (z * z)
  const series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r / 132))))
  return Math.log(z) - 0.5 / z - series - shift
}
