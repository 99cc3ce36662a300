import type { Executor, Library, LibraryDefinition, OuterPrompts, Role } from './library.ts'
import { libraryFingerprint } from './library-fingerprint.ts'
import { InvalidLibraryError } from './library-problem.ts'
import { readLibrary } from './read-library.ts'
import { defineRoleSpace, type RoleSpace } from './role-space.ts'
import { semanticTexts } from './semantic-texts.ts'

export interface LibraryOptions {
  /** Names of tools of one's own that executors may be permitted, besides the built-in ones. */
  readonly tools?: readonly string[]
}

/** Checks a definition and gives the library, or throws one `InvalidLibraryError` with all that is wrong. */
export function defineLibrary(definition: LibraryDefinition, options: LibraryOptions = {}): Library {
  const { roles, prompts, problems } = readLibrary(definition, options.tools)
  if (problems.length > 0) throw new InvalidLibraryError(problems)
  return buildLibrary(roles, prompts)
}

/**
 * The library of a dataset profile: the named roles, in the library's order whatever order they are named in.
 * What a role accepts is narrowed to what is still produced, so that the result is a valid library of its
 * own.
 */
export function selectRoles(library: Library, ids: readonly string[]): Library {
  const positions = new Set(ids.map((id) => library.space.indexOf(id)))
  if (positions.size === 0) throw new EmptySelectionError(library)
  const chosen = library.roles.filter((_, position) => positions.has(position))
  const produced = new Set(chosen.flatMap(({ produces }) => produces))
  const roles = chosen.map((role) =>
    role.accepts ? { ...role, accepts: role.accepts.filter((type) => produced.has(type)) } : role,
  )
  return buildLibrary(roles, library.prompts)
}

export class EmptySelectionError extends Error {
  override name = 'EmptySelectionError'
  constructor(library: Library) {
    super(`No role is selected. Name at least one of: ${library.roles.map(({ id }) => id).join(', ')}.`)
  }
}

/** Makes the library from roles and prompts that have been checked. */
export function buildLibrary(roles: readonly Role[], prompts: OuterPrompts): Library {
  const frozen = Object.freeze(roles.map(freezeRole))
  return Object.freeze({
    roles: frozen,
    prompts: Object.freeze({ ...prompts }),
    space: roleSpace(frozen),
    texts: Object.freeze(frozen.map((role) => Object.freeze(semanticTexts(role)))),
    fingerprint: libraryFingerprint(frozen, prompts),
  })
}

function roleSpace(roles: readonly Role[]): RoleSpace {
  const shapes = roles.map(({ id, atomic, group }) =>
    Object.freeze({ id, atomic: atomic !== undefined, group: group !== undefined }),
  )
  // Asked for every role and unit at every decision, so looked up instead of intersected.
  const fits = Uint8Array.from(roles.flatMap((from) => roles.map((to) => Number(outputFits(from, to)))))
  const compatible = (from: number, to: number): boolean => fits[from * roles.length + to] === 1
  return Object.freeze(defineRoleSpace(Object.freeze(shapes), compatible))
}

/** An edge is legal when the receiver takes anything, or something that the sender produces. */
function outputFits(from: Role, to: Role): boolean {
  return to.accepts === undefined || to.accepts.some((type) => from.produces.includes(type))
}

function freezeRole(role: Role): Role {
  const { accepts, produces, atomic, group } = role
  return Object.freeze({
    ...role,
    ...(accepts && { accepts: Object.freeze([...accepts]) }),
    produces: Object.freeze([...produces]),
    ...(atomic && { atomic: freezeExecutor(atomic) }),
    ...(group && {
      group: Object.freeze({
        workers: Object.freeze([
          freezeExecutor(group.workers[0]),
          freezeExecutor(group.workers[1]),
          freezeExecutor(group.workers[2]),
        ] as const),
        aggregator: freezeExecutor(group.aggregator),
      }),
    }),
  })
}

function freezeExecutor(executor: Executor): Executor {
  return Object.freeze({ ...executor, tools: Object.freeze([...executor.tools]) })
}
