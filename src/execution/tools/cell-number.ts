const plain = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?$/
const longest = 40

/** The number that a cell shows: `$1,234.5`, `12 %`, `(3.2)` for a negative one, `−5`. Undefined for other text. */
export function cellNumber(cell: string): number | undefined {
  const text = cell.trim()
  if (text.length > longest) return undefined
  const [, inner] = /^\((.*)\)$/.exec(text) ?? []
  const bare = (inner ?? text)
    .replace(/[−–]/, '-')
    .replace(/[$€£¥%]/g, '')
    .replace(/\s+/g, '')
  if (!/\d/.test(bare) || !plain.test(bare)) return undefined
  const value = Number(bare.replaceAll(',', ''))
  return inner === undefined ? value : -Math.abs(value)
}
