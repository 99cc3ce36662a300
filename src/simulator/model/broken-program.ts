import type { ProgramInterface } from '../../library/task.ts'

type Slip = readonly [pattern: RegExp, replacement: (found: string) => string]

const swaps = new Map([
  [' < ', ' <= '],
  [' <= ', ' < '],
  [' > ', ' >= '],
  [' >= ', ' > '],
  ['max(', 'min('],
  ['min(', 'max('],
  [' and ', ' or '],
  [' or ', ' and '],
  ['True', 'False'],
  ['False', 'True'],
])
const swap = (found: string): string => swaps.get(found) ?? found

/** What people get wrong, in the order in which it is looked for: a boundary comes late, as it matters least often. */
const slips: readonly Slip[] = [
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
 * Programs that look like a right one but have a slip near their end, and last a stub. A slip may happen to leave the
 * result as it was; a program that must surely fail is given by the user, who can test it.
 */
export function brokenPrograms(program: string, wanted: ProgramInterface | undefined): readonly string[] {
  const isCode = codePositions(program)
  const broken: string[] = []
  for (const [pattern, replacement] of slips) {
    const found = [...program.matchAll(pattern)].filter(({ index }) => isCode[index] === 1).at(-1)
    if (found === undefined) continue
    const end = found.index + found[0].length
    broken.push(program.slice(0, found.index) + replacement(found[0]) + program.slice(end))
    if (broken.length === maxSlips) break
  }
  return [...broken, stub(wanted)]
}

/** Runs, and does nothing that was asked for. */
export function stub(wanted: ProgramInterface | undefined): string {
  if (wanted?.mode === 'stdin') return 'print()\n'
  return `def ${wanted?.entryPoint ?? 'solve'}(*arguments):\n    return None\n`
}

/** 1 where a character of Python source is neither in a string nor in a comment. */
function codePositions(source: string): Uint8Array {
  const isCode = new Uint8Array(source.length)
  let position = 0
  while (position < source.length) {
    const end = endOfText(source, position)
    if (end === position) isCode[position] = 1
    position = Math.max(end, position + 1)
  }
  return isCode
}

/** Where the string or comment that starts here ends; here, if none does. */
function endOfText(source: string, start: number): number {
  const first = source[start]!
  if (first === '#') return lineEnd(source, start)
  if (first !== '"' && first !== "'") return start
  const triple = first.repeat(3)
  const quote = source.startsWith(triple, start) ? triple : first
  for (let at = start + quote.length; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source.startsWith(quote, at)) return at + quote.length
    else if (source[at] === '\n' && quote.length === 1) return at
  }
  return source.length
}

function lineEnd(source: string, start: number): number {
  const end = source.indexOf('\n', start)
  return end === -1 ? source.length : end
}
