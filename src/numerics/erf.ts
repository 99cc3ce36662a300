const twoOverSqrtPi = 2 / Math.sqrt(Math.PI)

// The series below loses about x² units in the last place; the continued fraction converges faster for larger x. At
// this point both give full precision.
const seriesEnd = 2.25
const fractionTerms = 60
/** From here on erfc(x) is less than half a unit in the last place of 1. */
const saturation = 6

/**
 * The error function in double precision, accurate to about 1e-15. Slow and plain: loops instead of tabulated
 * polynomials, so that it can be checked against any handbook.
 */
export function erf(x: number): number {
  const magnitude = Math.abs(x)
  if (magnitude < seriesEnd) return series(x)
  if (magnitude >= saturation) return Math.sign(x)
  return Math.sign(x) * (1 - complementOf(magnitude))
}

/** erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!: every term has the sign of x, so nothing cancels. */
function series(x: number): number {
  const twoSquares = 2 * x * x
  let term = x
  let sum = 0
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term
    term *= twoSquares / odd
  }
  return twoOverSqrtPi * Math.exp(-x * x) * sum
}

/** erfc x = e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 1½/(x + …)))), evaluated from the inside out. */
function complementOf(x: number): number {
  let denominator = x
  for (let n = fractionTerms; n > 0; n -= 1) denominator = x + n / 2 / denominator
  return ((twoOverSqrtPi / 2) * Math.exp(-x * x)) / denominator
}
