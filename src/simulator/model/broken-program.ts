import type { ProgramInterface } from '../../library/task.ts'

const opposites = [
  [' < ', ' <= '],
  [' > ', ' >= '],
  ['max(', 'min('],
  [' and ', ' or '],
  ['True', 'False'],
] as const
const swaps = new Map<string, string>(opposites.flatMap(([a, b]) => [[a, b] as const, [b, a] as const]))
const swap = (found: string): string => swaps.get(found) ?? found

/** Typical mistakes, in the order they are tried; boundaries come late because they rarely matter. */
const slips: readonly (readonly [pattern: RegExp, replacement: (found: string) => string])[] = [
  [/ [+-] 1\b/g, (found) => (found.includes('+') ? ' + 2' : ' - 2')],
  [/\brange\([^()\n]{1,60}\)/g, (found) => `${found.slice(0, -1)} - 1)`],
  [/\b(?:max|min)\(/g, swap],
  [/ == /g, () => ' != '],
  [/ (?:and|or) /g, swap],
  [/\b(?:True|False)\b/g, swap],
  [/ \* /g, () => ' + '],
  [/ <=? | >=? /g, swap],
  [/\breturn [^\n]{1,200}/g, () => 'return None'],
]

const maxSlips = 3

/**
 * Programs that look right but have a slip near their end, then a stub. A slip may not change the result: provide
 * your own programs if they must fail.
 */
export function brokenPrograms(program: string, wanted: ProgramInterface | undefined): readonly string[] {
  const code = withoutTexts(program)
  const broken: string[] = []
  for (const [pattern, replacement] of slips) {
    const found = [...program.matchAll(pattern)].filter(({ index }) => code[index] !== masked).at(-1)
    if (found === undefined) continue
    const end = found.index + found[0].length
    broken.push(program.slice(0, found.index) + replacement(found[0]) + program.slice(end))
    if (broken.length === maxSlips) break
  }
  return [...broken, stub(wanted)]
}

/** A program that runs but does nothing useful. */
export function stub(wanted: ProgramInterface | undefined): string {
  if (wanted?.mode === 'stdin') return 'print()\n'
  return `def ${wanted?.entryPoint ?? 'solve'}(*arguments):\n    return None\n`
}

const masked = '\0'
const comment = /#[^\n]*/
const longString = /(?<long>"""|''')(?:\\[\s\S]|(?!\k<long>)[^\\])*(?:\k<long>|\\?$)/
const shortString = /(?<short>["'])(?:\\[\s\S]|(?!\k<short>)[^\\\n])*(?:\k<short>|\\?$)?/
const texts = new RegExp([comment, longString, shortString].map(({ source }) => source).join('|'), 'g')

/** Python source of the same length, with comments and strings masked. */
function withoutTexts(source: string): string {
  return source.replace(texts, (text) => masked.repeat(text.length))
}
