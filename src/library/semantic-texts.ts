import type { Executor, Role, RoleTexts } from './library.ts'

/**
 * What the text encoder reads of a role. A realization's text must stand alone, since a unit's features say nothing
 * else about its role: hence it includes the role's name. Prompts are left out, because they mostly say how to
 * answer.
 */
export function semanticTexts({ id, description, atomic, group }: Role): RoleTexts {
  const members = group ? [...group.workers, group.aggregator].map(duty).join(' ') : ''
  return {
    role: description,
    atomic: atomic && `${words(id)}, one agent: ${atomic.responsibility}`,
    group: group && `${words(id)}, a group of three workers and an aggregator. ${members}`,
  }
}

function duty({ id, responsibility }: Executor): string {
  return `${words(id)}: ${responsibility}`
}

/** An identifier in words the encoder knows: `option_eliminator` becomes `option eliminator`. */
function words(id: string): string {
  return id.replaceAll(/[_-]+/g, ' ')
}
