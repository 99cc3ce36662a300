import { identifierPattern } from './identifier.ts'
import type { Executor, Group, OuterPrompts, Role } from './library.ts'
import { describePath, type LibraryPath, type LibraryProblem, shown } from './library-problem.ts'
import { checkAcrossRoles } from './library-rules.ts'
import { standardPrompts } from './standard-prompts.ts'
import { builtInTools, compareTools } from './tool-name.ts'

export interface ReadLibrary {
  readonly roles: readonly Role[]
  readonly prompts: OuterPrompts
  /** Everything that is wrong; the rest holds only when this is empty. */
  readonly problems: readonly LibraryProblem[]
}

/**
 * Reads a definition of any origin: checks it against the schema and its own rules, and fills in defaults.
 */
export function readLibrary(definition: unknown, ownTools: readonly string[] = []): ReadLibrary {
  return new LibraryReader(definition, ownTools).read()
}

/** The schema: what may be written where. */
const fieldsOf = {
  'a library': ['prompts', 'roles'],
  'the prompts': ['finalizer', 'direct'],
  'a role': ['id', 'description', 'accepts', 'produces', 'atomic', 'group'],
  'a group': ['workers', 'aggregator'],
  'an executor': ['id', 'responsibility', 'prompt', 'tools'],
} as const

// Line breaks and tabs belong in a prompt; what else steers a terminal does not.
const strayControl = /[^\P{Cc}\t\n]/u

type Fields = Readonly<Record<string, unknown>>

/** Goes through a definition once and notes every problem on the way. */
class LibraryReader {
  private readonly problems: LibraryProblem[] = []
  private readonly definition: unknown
  private readonly tools: ReadonlySet<string>

  constructor(definition: unknown, ownTools: readonly string[]) {
    this.definition = definition
    this.tools = new Set([...builtInTools, ...ownTools])
  }

  read(): ReadLibrary {
    const library = this.fields(this.definition, [], 'a library')
    const prompts = this.prompts(library?.['prompts'])
    const entries = library && this.list(library['roles'], ['roles'], 'List the roles of the library.')
    if (entries?.length === 0) this.note(['roles'], 'has no role. Add at least one.')
    const roles = (entries ?? []).map((entry, index) => this.role(entry, ['roles', index]))
    checkAcrossRoles(roles, (path, message) => this.note(path, message))
    return { roles, prompts, problems: this.problems }
  }

  private prompts(value: unknown): OuterPrompts {
    if (value === undefined) return standardPrompts
    const fields = this.fields(value, ['prompts'], 'the prompts')
    const read = (field: keyof OuterPrompts): string =>
      fields?.[field] === undefined
        ? standardPrompts[field]
        : this.text(
            fields[field],
            ['prompts', field],
            'Write it, or leave the field out to use the standard one.',
          )
    return { finalizer: read('finalizer'), direct: read('direct') }
  }

  private role(value: unknown, path: LibraryPath): Role {
    const fields = this.fields(value, path, 'a role')
    if (!fields) return { id: '', description: '', produces: [] }
    const accepts = this.types(fields['accepts'], [...path, 'accepts'])
    const produces = this.types(fields['produces'], [...path, 'produces'])
    if (produces?.length === 0) {
      this.note([...path, 'produces'], "is empty. Name at least one type, or leave it out for 'analysis'.")
    }
    if (fields['atomic'] === undefined && fields['group'] === undefined) {
      this.note(path, "has no realization. Give it 'atomic', 'group' or both.")
    }
    return {
      id: this.identifier(fields['id'], [...path, 'id'], 'Give the role a short name such as fact_checker.'),
      description: this.text(
        fields['description'],
        [...path, 'description'],
        'Say in a sentence what the role is for.',
      ),
      ...(accepts && { accepts }),
      produces: produces ?? ['analysis'],
      ...(fields['atomic'] !== undefined && { atomic: this.executor(fields['atomic'], [...path, 'atomic']) }),
      ...(fields['group'] !== undefined && { group: this.group(fields['group'], [...path, 'group']) }),
    }
  }

  private group(value: unknown, path: LibraryPath): Group {
    const fields = this.fields(value, path, 'a group')
    const entries =
      fields &&
      this.list(fields['workers'], [...path, 'workers'], 'List the three executors that work side by side.')
    const workers = (entries ?? []).map((entry, index) => this.executor(entry, [...path, 'workers', index]))
    if (entries && entries.length !== 3) {
      const count = entries.length === 1 ? '1 worker' : `${entries.length} workers`
      this.note([...path, 'workers'], `has ${count}. A group has exactly three: add or remove some.`)
    }
    let aggregator: Executor = nobody
    if (fields && (fields['aggregator'] === undefined || fields['aggregator'] === null)) {
      this.note([...path, 'aggregator'], 'is missing. Add the executor that combines the three workers.')
    } else if (fields) {
      aggregator = this.executor(fields['aggregator'], [...path, 'aggregator'])
    }
    return { workers: workers as unknown as Group['workers'], aggregator }
  }

  private executor(value: unknown, path: LibraryPath): Executor {
    const fields = this.fields(value, path, 'an executor')
    if (!fields) return nobody
    return {
      id: this.identifier(fields['id'], [...path, 'id'], 'Give the executor a name, unique in the library.'),
      responsibility: this.text(
        fields['responsibility'],
        [...path, 'responsibility'],
        'Say in one sentence what this executor answers for.',
      ),
      prompt: this.text(fields['prompt'], [...path, 'prompt'], 'Write the system prompt of this executor.'),
      tools: this.permissions(fields['tools'], [...path, 'tools']),
    }
  }

  private permissions(value: unknown, path: LibraryPath): readonly string[] {
    if (value === undefined) return []
    const entries = this.list(value, path, 'List tool names, or leave it out for none.') ?? []
    const known = entries.filter((entry, index): entry is string => {
      const ok = typeof entry === 'string' && this.tools.has(entry)
      if (!ok) {
        const remedy = `Use one of ${[...this.tools].join(', ')}, or register the tool first.`
        this.note([...path, index], `is ${shown(entry)}, which is not a tool here. ${remedy}`)
      }
      return ok
    })
    return this.distinct(known, path).sort(compareTools)
  }

  /** A list of edge types as a sorted set, or undefined when it is left out. */
  private types(value: unknown, path: LibraryPath): readonly string[] | undefined {
    if (value === undefined) return undefined
    const entries = this.list(value, path, 'List type names, or leave it out.')
    if (!entries) return undefined
    const names = entries.map((entry, index) =>
      this.identifier(entry, [...path, index], 'Give the type a short name such as evidence.'),
    )
    return this.distinct(names, path).sort()
  }

  private distinct(names: readonly string[], path: LibraryPath): string[] {
    const seen = new Set<string>()
    for (const name of names) {
      if (seen.has(name) && name !== '') this.note(path, `lists ${shown(name)} twice. Remove one.`)
      seen.add(name)
    }
    return [...seen]
  }

  private identifier(value: unknown, path: LibraryPath, remedy: string): string {
    const text = this.text(value, path, remedy)
    if (text !== '' && !identifierPattern.test(text)) {
      const rule = 'Use letters, digits, - and _, a letter first, at most 64 characters.'
      this.note(path, `is ${shown(text)}, which cannot be a name. ${rule}`)
    }
    return text
  }

  /**
   * Text without outer white space and with plain line ends, so that a YAML block equals a TypeScript string.
   */
  private text(value: unknown, path: LibraryPath, remedy: string): string {
    if (value === undefined) {
      this.note(path, `is missing. ${remedy}`)
      return ''
    }
    if (typeof value !== 'string' && value !== null) {
      this.note(path, `is ${shown(value)}, not text. ${remedy}`)
      return ''
    }
    const text = (value ?? '').replaceAll(/\r\n?/g, '\n').trim()
    if (text === '') this.note(path, `is empty. ${remedy}`)
    const control = strayControl.exec(text)
    if (control) {
      const code = control[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      this.note(path, `contains the control character U+${code}. Remove it.`)
    }
    if (!text.isWellFormed()) this.note(path, 'contains half of a surrogate pair. Remove it.')
    return text
  }

  private list(value: unknown, path: LibraryPath, remedy: string): readonly unknown[] | undefined {
    if (Array.isArray(value)) return value
    this.note(
      path,
      value === undefined ? `is missing. ${remedy}` : `is ${shown(value)}, not a list. ${remedy}`,
    )
    return undefined
  }

  private fields(value: unknown, path: LibraryPath, kind: keyof typeof fieldsOf): Fields | undefined {
    const known: readonly string[] = fieldsOf[kind]
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.note(path, `is ${shown(value)}, not ${kind}. Write the fields ${known.join(', ')}.`)
      return undefined
    }
    for (const field of Object.keys(value)) {
      if (known.includes(field)) continue
      this.note([...path, field], `is not a field of ${kind}. The fields are ${known.join(', ')}.`)
    }
    return value as Fields
  }

  private note(path: LibraryPath, message: string): void {
    this.problems.push({ path, where: describePath(path, this.definition), message })
  }
}

// Stands where an executor could not be read; a problem has been noted, so it never reaches a library.
const nobody: Executor = { id: '', responsibility: '', prompt: '', tools: [] }
