/** Compares by code point, as Python and UTF-8 do. JavaScript's `<` puts characters beyond U+FFFF before U+E000 to U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1
  if (i === length) return a.length - b.length
  // After a high surrogate, compare whole characters, since only one side may complete the pair.
  const before = i === 0 ? 0 : a.codePointAt(i - 1)! - b.codePointAt(i - 1)!
  return before !== 0 ? before : a.codePointAt(i)! - b.codePointAt(i)!
}
