import { readFileSync, statSync } from 'node:fs'
import { stringify } from 'yaml'
import { Problem } from '../problem.ts'
import { buildLibrary, type LibraryOptions } from './define-library.ts'
import type { Executor, Library } from './library.ts'
import { InvalidLibraryError } from './library-problem.ts'
import { readLibrary } from './read-library.ts'
import { maxYamlCharacters, readYaml } from './yaml-document.ts'

/** Loads a library from a YAML file, with the fields and rules of `defineLibrary`. */
export function loadLibrary(path: string, options: LibraryOptions = {}): Library {
  return parseLibrary(readLibraryFile(path), path, options)
}

/** A library from YAML text. `source` names it in messages, usually as a file. */
export function parseLibrary(text: string, source: string, options: LibraryOptions = {}): Library {
  if (text.length > maxYamlCharacters) throw unreadable(source, tooLarge)
  const { value, faults, lineOf } = readYaml(text)
  if (faults.length > 0) {
    const problems = faults.map(({ line, message }) => ({ path: [], text: `the file ${message}`, line }))
    throw new InvalidLibraryError(problems, source)
  }
  const { library, problems } = readLibrary(value, options.tools)
  if (library !== undefined) return buildLibrary(library.roles, library.prompts)
  const located = problems.map((problem) => ({ ...problem, line: lineOf(problem.path) }))
  throw new InvalidLibraryError(
    located.sort((a, b) => a.line - b.line),
    source,
  )
}

/** The library as YAML that `parseLibrary` reads back with the same fingerprint; defaults are left out. */
export function toYaml({ prompts, roles }: Library): string {
  const executor = ({ id, responsibility, tools, prompt }: Executor) => ({
    id,
    responsibility,
    tools: tools.length === 0 ? undefined : tools,
    prompt,
  })
  const definitions = roles.map(({ id, description, accepts, produces, atomic, group }) => ({
    id,
    description,
    accepts,
    produces: produces.join() === 'analysis' ? undefined : produces,
    atomic: atomic && executor(atomic),
    group: group && { workers: group.workers.map(executor), aggregator: executor(group.aggregator) },
  }))
  // Literal blocks, because folding by the `yaml` package loses indented lines inside a text.
  return stringify({ prompts, roles: definitions }, { lineWidth: 0, blockQuote: 'literal' })
}

const tooLarge = `it has more than ${maxYamlCharacters} characters. Split the library.`

function unreadable(path: string, problem: string, options?: ErrorOptions): Problem {
  return new Problem(`Cannot read the library ${path}: ${problem}`, options)
}

function readLibraryFile(path: string): string {
  try {
    const status = statSync(path)
    // Reading a pipe or a device could go on forever.
    if (!status.isFile()) throw unreadable(path, 'it is not a file. Give the path of a YAML file.')
    // A character takes at most four bytes.
    if (status.size > maxYamlCharacters * 4) throw unreadable(path, tooLarge)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof Problem) throw error
    const { code, message } = error as NodeJS.ErrnoException
    let problem = `${message}.`
    if (code === 'ENOENT') problem = 'there is no such file. Check the path.'
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') problem = 'it is not UTF-8 text. Save it as UTF-8.'
    throw unreadable(path, problem, { cause: error })
  }
}
