import { Problem } from '../problem.ts'
import type { Library, LibraryDefinition, OuterPrompts, Role } from './library.ts'
import { libraryFingerprint } from './library-fingerprint.ts'
import { InvalidLibraryError } from './library-problem.ts'
import { readLibrary } from './read-library.ts'
import { defineRoleSpace, type RoleSpace } from './role-space.ts'
import { semanticTexts } from './semantic-texts.ts'

export interface LibraryOptions {
  /** Names of your own tools that executors may use, in addition to the built-in ones. */
  readonly tools?: readonly string[]
}

/** Checks a definition and returns the library. Throws an `InvalidLibraryError` that lists all problems. */
export function defineLibrary(definition: LibraryDefinition, options: LibraryOptions = {}): Library {
  const { library, problems } = readLibrary(definition, options.tools)
  if (library === undefined) throw new InvalidLibraryError(problems)
  return buildLibrary(library.roles, library.prompts)
}

/** A library with only the named roles, in the library's order. What a role accepts is narrowed to what they produce. */
export function selectRoles(library: Library, ids: readonly string[]): Library {
  const positions = new Set(ids.map((id) => library.space.indexOf(id)))
  if (positions.size === 0) {
    const all = library.roles.map(({ id }) => id).join(', ')
    throw new Problem(`No role is selected. Name at least one of: ${all}.`)
  }
  const chosen = library.roles.filter((_, position) => positions.has(position))
  const produced = new Set(chosen.flatMap(({ produces }) => produces))
  const narrowed = (types: readonly string[]) => types.filter((type) => produced.has(type))
  const roles = chosen.map((role) => (role.accepts ? { ...role, accepts: narrowed(role.accepts) } : role))
  return buildLibrary(roles, library.prompts)
}

/** Builds the library from validated roles and prompts. */
export function buildLibrary(roles: readonly Role[], prompts: OuterPrompts): Library {
  const frozen = frozenCopy(roles)
  return Object.freeze({
    roles: frozen,
    prompts: frozenCopy(prompts),
    space: roleSpace(frozen),
    texts: frozenCopy(frozen.map(semanticTexts)),
    fingerprint: libraryFingerprint(frozen, prompts),
  })
}

function roleSpace(roles: readonly Role[]): RoleSpace {
  const shapes = roles.map(({ id, atomic, group }) =>
    Object.freeze({ id, atomic: atomic !== undefined, group: group !== undefined }),
  )
  // A lookup table, because this is needed for every role and unit at every decision.
  const fits = Uint8Array.from(roles.flatMap((from) => roles.map((to) => Number(outputFits(from, to)))))
  const compatible = (from: number, to: number): boolean => fits[from * roles.length + to] === 1
  return Object.freeze(defineRoleSpace(Object.freeze(shapes), compatible))
}

/** An edge is legal if the receiver accepts anything, or something the sender produces. */
function outputFits(from: Role, to: Role): boolean {
  return to.accepts === undefined || to.accepts.some((type) => from.produces.includes(type))
}

/** Copied, so that the caller's objects are not frozen. */
function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([field, part]) => [field, frozenCopy(part)]))
  return Object.freeze(copy) as Value
}
