// Rules that concern several fields or roles. They read the definition leniently, so that they also apply to one that
// the schema rejects, and all problems are found at once. Unreadable names are empty and skipped.
import { type LibraryPath, shown } from './library-problem.ts'

type Note = (path: LibraryPath, message: string) => void

export function checkAcrossRoles(definition: unknown, note: Note): void {
  const roles = itemsOf(fieldOf(definition, 'roles'))
  const produced = new Set(roles.flatMap(producedBy))
  const roleIds = new Map<string, number>()
  const executorIds = new Map<string, string>()
  for (const [index, role] of roles.entries()) {
    const at = ['roles', index]
    const id = nameOf(fieldOf(role, 'id'))
    const other = roleIds.get(id)
    if (other === undefined) roleIds.set(id, index)
    else if (id !== '') note([...at, 'id'], `is already the id of roles[${other}]. Rename one of the two.`)
    const executors = executorsIn(role)
    if (executors.length === 0 && typeof role === 'object' && role !== null)
      note(at, "has no realization. Give it 'atomic', 'group' or both.")
    for (const [path, executor] of executors) {
      const executorId = nameOf(fieldOf(executor, 'id'))
      const owner = executorIds.get(executorId)
      if (owner === undefined) executorIds.set(executorId, id || `roles[${index}]`)
      else if (executorId !== '')
        note(
          [...at, ...path, 'id'],
          `is ${shown(executorId)}, which is already the id of an executor of role '${owner}'. ` +
            'Executor ids are unique in the whole library: rename one of the two.',
        )
    }
    for (const type of new Set(itemsOf(fieldOf(role, 'accepts')).map(nameOf))) {
      if (type === '' || produced.has(type)) continue
      const remedy = `Add it to the 'produces' of a role or remove it here; produced are ${[...produced].join(', ')}.`
      note([...at, 'accepts'], `has ${shown(type)}, which no role produces. ${remedy}`)
    }
  }
}

function producedBy(role: unknown): string[] {
  const produces = fieldOf(role, 'produces')
  return Array.isArray(produces) ? produces.map(nameOf) : ['analysis']
}

function executorsIn(role: unknown): [path: LibraryPath, executor: unknown][] {
  const atomic = fieldOf(role, 'atomic')
  const group = fieldOf(role, 'group')
  const workers = itemsOf(fieldOf(group, 'workers'))
  const executors: [LibraryPath, unknown][] = workers.map((worker, index) => [
    ['group', 'workers', index],
    worker,
  ])
  if (atomic !== undefined) executors.unshift([['atomic'], atomic])
  if (group !== undefined) executors.push([['group', 'aggregator'], fieldOf(group, 'aggregator')])
  return executors
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined
}

function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
