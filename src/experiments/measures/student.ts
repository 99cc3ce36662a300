/** The 97.5 % point of Student's distribution, by bisection. There are few seeds, so speed does not matter. */
export function studentQuantile(degrees: number): number {
  let [low, high] = [0, 20]
  for (let round = 0; round < 200 && low < high; round += 1) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (upperTail(middle, degrees) > 0.025) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** P(T > t) for t ≥ 0, by finite sums for integer degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4). */
function upperTail(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees))
  const cosine = Math.cos(angle)
  const isOdd = degrees % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = degrees === 1 ? 0 : term
  for (let k = isOdd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine
    sum += term
  }
  const within = isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum
  return (1 - within) / 2
}
