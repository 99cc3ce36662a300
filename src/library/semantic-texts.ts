import type { Executor, Role, RoleTexts } from './library.ts'

/**
 * What the text encoder reads of a role. A realization's text stands alone (a unit's features contain nothing
 * else about its role), hence the role's name in it; the prompts are left out, because they mostly tell
 * manners.
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

/** An identifier as the encoder's vocabulary knows it: `option_eliminator` is `option eliminator`. */
function words(id: string): string {
  return id.replaceAll(/[_-]+/g, ' ')
}
