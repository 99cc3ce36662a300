// Rules that concern several fields or roles. They read the definition leniently, so that they also apply to one that
// the schema refuses, and all problems are found at once. What cannot be read has an empty name and is passed over.
import { z } from 'zod'
import { type LibraryPath, shown } from './library-problem.ts'

type Note = (path: LibraryPath, message: string) => void

const name = z.string().trim().catch('')
const executor = z.object({ id: name }).catch({ id: '' })
const role = z
  .object({
    id: name,
    accepts: z.array(name).catch([]),
    produces: z.array(name).catch(['analysis']),
    atomic: executor.optional(),
    group: z
      .object({ workers: z.array(executor).catch([]), aggregator: executor })
      .optional()
      .catch({ workers: [], aggregator: { id: '' } }),
  })
  .catch({ id: '', accepts: [], produces: [], atomic: { id: '' } })
const outline = z.object({ roles: z.array(role).catch([]) }).catch({ roles: [] })

type RoleOutline = z.output<typeof role>

export function checkAcrossRoles(definition: unknown, note: Note): void {
  const { roles } = outline.parse(definition)
  checkRealizations(roles, note)
  checkRoleIds(roles, note)
  checkExecutorIds(roles, note)
  checkTypes(roles, note)
}

function checkRealizations(roles: readonly RoleOutline[], note: Note): void {
  for (const [index, { atomic, group }] of roles.entries()) {
    if (atomic === undefined && group === undefined)
      note(['roles', index], "has no realization. Give it 'atomic', 'group' or both.")
  }
}

function checkRoleIds(roles: readonly RoleOutline[], note: Note): void {
  const first = new Map<string, number>()
  for (const [index, { id }] of roles.entries()) {
    const other = first.get(id)
    if (other === undefined) first.set(id, index)
    else if (id !== '')
      note(['roles', index, 'id'], `is already the id of roles[${other}]. Rename one of the two.`)
  }
}

function checkExecutorIds(roles: readonly RoleOutline[], note: Note): void {
  const first = new Map<string, string>()
  for (const [index, role] of roles.entries()) {
    for (const [path, id] of executorIds(role)) {
      const other = first.get(id)
      if (other === undefined) first.set(id, role.id || `roles[${index}]`)
      else if (id !== '')
        note(
          ['roles', index, ...path, 'id'],
          `is ${shown(id)}, which an executor of role '${other}' is already called. ` +
            'Executor ids are unique in the whole library: rename one of the two.',
        )
    }
  }
}

function executorIds({ atomic, group }: RoleOutline): [LibraryPath, string][] {
  const ids: [LibraryPath, string][] = []
  if (atomic) ids.push([['atomic'], atomic.id])
  for (const [position, { id }] of (group?.workers ?? []).entries())
    ids.push([['group', 'workers', position], id])
  if (group) ids.push([['group', 'aggregator'], group.aggregator.id])
  return ids
}

function checkTypes(roles: readonly RoleOutline[], note: Note): void {
  const produced = new Set(roles.flatMap(({ produces }) => produces))
  for (const [index, { accepts }] of roles.entries()) {
    for (const type of new Set(accepts)) {
      if (produced.has(type) || type === '') continue
      const list = [...produced].join(', ')
      const remedy = `Add it to the 'produces' of a role or remove it here; produced are ${list}.`
      note(['roles', index, 'accepts'], `has ${shown(type)}, which no role produces. ${remedy}`)
    }
  }
}
