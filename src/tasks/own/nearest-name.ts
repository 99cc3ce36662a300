/**
 * ` Did you mean 'question'?` for a name that is a few typos from a known one, relative to its length; else an empty
 * string.
 */
export function didYouMean(given: string, known: readonly string[]): string {
  if (given.length > longestName) return ''
  const [nearest] = known
    .map((name) => ({ name, slips: slipsBetween(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, slips }) => slips <= Math.ceil(name.length / 3))
    .sort((a, b) => a.slips - b.slips)
  return nearest === undefined ? '' : ` Did you mean '${nearest.name}'?`
}

const longestName = 64

/** Missing, extra, wrong or swapped letters (restricted Damerau-Levenshtein distance). */
function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const wrong = a[row - 1] === b[column - 1] ? 0 : 1
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + wrong)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        least = Math.min(least, beforeLast[column - 2]! + 1)
      current.push(least)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]!
}
