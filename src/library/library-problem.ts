import { Problem } from '../problem.ts'
import { identifierPattern } from './identifier.ts'

/** Where in a library's definition: field names and list positions. */
export type LibraryPath = readonly (string | number)[]

/** One thing wrong with a library's definition. */
export interface LibraryProblem {
  readonly path: LibraryPath
  /** A sentence that names role and field, and the remedy: `role 'solver', atomic.prompt is empty. Write …` */
  readonly text: string
  /** Line in the YAML file, if there is one. */
  readonly line?: number
}

// A garbage file may have a problem on every line; a longer list would not help.
const shownProblems = 100

/** Lists all problems of a definition, not only the first. */
export class InvalidLibraryError extends Problem {
  readonly problems: readonly LibraryProblem[]

  /** `source`: the file it came from, if any. */
  constructor(problems: readonly LibraryProblem[], source?: string) {
    const lines = problems
      .slice(0, shownProblems)
      .map(({ text, line }) => `- ${line === undefined ? '' : `line ${line}: `}${text}`)
    if (problems.length > shownProblems) lines.push(`- and ${problems.length - shownProblems} more`)
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    const name = source === undefined ? 'The library' : `The library ${source}`
    super(`${name} is not valid (${count}):\n${lines.join('\n')}`)
    this.problems = problems
  }
}

/** Names the role by its id if it has one, because a position is hard to find in a long file. */
export function describePath(path: LibraryPath, definition: unknown): string {
  const [top, index, ...rest] = path
  if (top === undefined) return 'the definition'
  if (top !== 'roles' || typeof index !== 'number') return fieldPath(path)
  const id = (definition as { roles: readonly ({ id?: unknown } | null)[] }).roles[index]?.id
  const named = typeof id === 'string' && identifierPattern.test(id.trim())
  const role = named ? `role '${id.trim()}'` : `roles[${index}]`
  return rest.length === 0 ? role : `${role}, ${fieldPath(rest)}`
}

function fieldPath(path: LibraryPath): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`
    return `.${identifierPattern.test(part) ? part : shown(part)}`
  })
  return parts.join('').replace(/^\./, '')
}

/** A value inside a message: short and escaped, so that a file's content cannot pose as part of the message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    const quoted = JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
    // Also escapes characters that terminals do not print (C1 controls, text direction).
    return quoted.replaceAll(/\p{C}/gu, (hidden) => `\\u{${hidden.codePointAt(0)!.toString(16)}}`)
  }
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`
  return `a ${typeof value}`
}
