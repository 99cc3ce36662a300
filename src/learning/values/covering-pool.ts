/**
 * Picks `size` candidates that together serve the questions best: first those in `there`, then greedily the one that
 * adds most where the others are weak. Without `there`, the first pick is the best one for all questions. `worths`
 * holds each candidate's worth on each question.
 */
export function coveringPool(
  worths: readonly Float64Array[],
  size: number,
  there: readonly number[] = [],
): number[] {
  const questions = worths[0]?.length ?? 0
  const best = new Float64Array(questions).fill(Number.NEGATIVE_INFINITY)
  const pool = [...there]
  const left = new Set(worths.keys())
  for (const one of pool) left.delete(one)
  for (const one of pool)
    for (let q = 0; q < questions; q += 1) best[q] = Math.max(best[q]!, worths[one]![q]!)
  while (pool.length < size && left.size > 0) {
    let chosen = -1
    let most = Number.NEGATIVE_INFINITY
    for (const candidate of left) {
      const worth = worths[candidate]!
      let sum = 0
      for (let q = 0; q < questions; q += 1) sum += Math.max(best[q]!, worth[q]!)
      if (sum > most) {
        most = sum
        chosen = candidate
      }
    }
    left.delete(chosen)
    pool.push(chosen)
    for (let q = 0; q < questions; q += 1) best[q] = Math.max(best[q]!, worths[chosen]![q]!)
  }
  return pool
}
