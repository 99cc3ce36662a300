import type { Executor, Role } from './library.ts'
import { type LibraryPath, shown } from './library-problem.ts'

type Note = (path: LibraryPath, message: string) => void

/**
 * The rules that no role can keep or break alone. What could not be read has an empty id and is passed over.
 */
export function checkAcrossRoles(roles: readonly Role[], note: Note): void {
  checkRoleIds(roles, note)
  checkExecutorIds(roles, note)
  checkTypes(roles, note)
}

function checkRoleIds(roles: readonly Role[], note: Note): void {
  const first = new Map<string, number>()
  for (const [index, { id }] of roles.entries()) {
    const other = first.get(id)
    if (other === undefined) first.set(id, index)
    else if (id !== '') {
      note(['roles', index, 'id'], `is already the id of roles[${other}]. Rename one of the two.`)
    }
  }
}

function checkExecutorIds(roles: readonly Role[], note: Note): void {
  const first = new Map<string, string>()
  for (const [index, role] of roles.entries()) {
    for (const [path, { id }] of executorPaths(role, ['roles', index])) {
      const other = first.get(id)
      if (other === undefined) first.set(id, role.id || `roles[${index}]`)
      else if (id !== '') {
        const taken = `is ${shown(id)}, which an executor of role '${other}' is already called`
        note(
          [...path, 'id'],
          `${taken}. Executor ids are unique in the whole library: rename one of the two.`,
        )
      }
    }
  }
}

function executorPaths({ atomic, group }: Role, path: LibraryPath): [LibraryPath, Executor][] {
  return [
    ...(atomic ? [[[...path, 'atomic'], atomic] as [LibraryPath, Executor]] : []),
    ...(group?.workers ?? []).map((worker, position): [LibraryPath, Executor] => [
      [...path, 'group', 'workers', position],
      worker,
    ]),
    ...(group ? [[[...path, 'group', 'aggregator'], group.aggregator] as [LibraryPath, Executor]] : []),
  ]
}

function checkTypes(roles: readonly Role[], note: Note): void {
  const produced = new Set(roles.flatMap(({ produces }) => produces))
  for (const [index, { accepts }] of roles.entries()) {
    for (const type of accepts ?? []) {
      if (produced.has(type) || type === '') continue
      const list = [...produced].join(', ')
      const remedy = `Add it to the 'produces' of a role or remove it here; produced are ${list}.`
      note(['roles', index, 'accepts'], `has ${shown(type)}, which no role produces. ${remedy}`)
    }
  }
}
