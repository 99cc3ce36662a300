import { readFileSync, statSync } from 'node:fs'
import { stringify } from 'yaml'
import { Problem } from '../problem.ts'
import { buildLibrary, type LibraryOptions } from './define-library.ts'
import type {
  Executor,
  ExecutorDefinition,
  GroupDefinition,
  Library,
  LibraryDefinition,
  Role,
  RoleDefinition,
} from './library.ts'
import { InvalidLibraryError } from './library-problem.ts'
import { readLibrary } from './read-library.ts'
import { maxYamlCharacters, readYaml } from './yaml-document.ts'

/** Loads a library from a YAML file. Fields and rules are those of `defineLibrary`. */
export function loadLibrary(path: string, options: LibraryOptions = {}): Library {
  return parseLibrary(readLibraryFile(path), path, options)
}

/** A library from YAML text. `source` names it in messages, usually as a file. */
export function parseLibrary(text: string, source: string, options: LibraryOptions = {}): Library {
  if (text.length > maxYamlCharacters) throw new LibraryFileError(source, tooLarge)
  const { value, faults, lineOf } = readYaml(text)
  if (faults.length > 0) {
    const problems = faults.map(({ line, message }) => ({ path: [], where: 'the file', message, line }))
    throw new InvalidLibraryError(problems, source)
  }
  const read = readLibrary(value, options.tools)
  if (read.roles !== undefined) return buildLibrary(read.roles, read.prompts)
  const located = read.problems.map((problem) => ({ ...problem, line: lineOf(problem.path) }))
  throw new InvalidLibraryError(
    located.sort((a, b) => a.line - b.line),
    source,
  )
}

/** The library as YAML that `parseLibrary` reads back to the same fingerprint; defaults are left out. */
export function toYaml(library: Library): string {
  const definition: LibraryDefinition = {
    prompts: library.prompts,
    roles: library.roles.map(roleDefinition),
  }
  // Literal blocks, never folded: folding by the `yaml` package loses indented lines inside a text.
  return stringify(definition, { lineWidth: 0, blockQuote: 'literal' })
}

function roleDefinition({ id, description, accepts, produces, atomic, group }: Role): RoleDefinition {
  const isDefault = produces.length === 1 && produces[0] === 'analysis'
  return {
    id,
    description,
    accepts,
    produces: isDefault ? undefined : produces,
    atomic: atomic && executorDefinition(atomic),
    group: group && {
      workers: group.workers.map(executorDefinition) as unknown as GroupDefinition['workers'],
      aggregator: executorDefinition(group.aggregator),
    },
  }
}

function executorDefinition({ id, responsibility, prompt, tools }: Executor): ExecutorDefinition {
  return { id, responsibility, tools: tools.length === 0 ? undefined : tools, prompt }
}

/** A file that cannot be read as text; what its text says wrongly is an `InvalidLibraryError`. */
export class LibraryFileError extends Problem {
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`Cannot read the library ${path}: ${problem}`, options)
  }
}

const tooLarge = `it has more than ${maxYamlCharacters} characters. Split the library.`

function readLibraryFile(path: string): string {
  try {
    const status = statSync(path)
    // A pipe or a device could go on for ever.
    if (!status.isFile()) throw new LibraryFileError(path, 'it is not a file. Give the path of a YAML file.')
    // A character takes at most four bytes.
    if (status.size > maxYamlCharacters * 4) throw new LibraryFileError(path, tooLarge)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof LibraryFileError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const problem =
      code === 'ENOENT'
        ? 'there is no such file. Check the path.'
        : code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
          ? 'it is not UTF-8 text. Save it as UTF-8.'
          : `${message}.`
    throw new LibraryFileError(path, problem, { cause: error })
  }
}
