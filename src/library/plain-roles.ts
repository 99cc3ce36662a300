import type { Library, Role } from './library.ts'
import { prompt } from './prompt.ts'

/** A unit of this role is the direct path: the library's direct prompt, no envelope, no predecessors. */
export const directRole: Role = {
  id: 'direct',
  description: 'The model alone with the question.',
  accepts: [],
  produces: ['analysis'],
  atomic: { id: 'direct', responsibility: 'Answer the question.', prompt: '', tools: [] },
}

/**
 * Roles available in every library, for organisations of equal agents. Construction never sees them: they are in no
 * role space, so they accept anything from anyone.
 */
const plainRoles: readonly Role[] = [
  directRole,
  {
    id: 'solver',
    description: 'Answers the question as well as it can, with whatever others have said as advice.',
    produces: ['analysis'],
    atomic: {
      id: 'solver',
      responsibility: 'Answer the question.',
      prompt: prompt(
        `You are a solver. Answer the question, step by step.`,
        `If others have answered before you, their answers are advice: use what is right in them, and correct what is
        not, your own earlier answer included.`,
      ),
      tools: [],
    },
  },
  {
    id: 'critic',
    description: 'Looks for mistakes in the last answer, and says whether it can stand.',
    produces: ['analysis'],
    atomic: {
      id: 'critic',
      responsibility: 'Find mistakes in an answer.',
      prompt: prompt(
        `You are a critic. Look for mistakes in the last answer of the conversation: in what it takes for granted, in its
        steps and in its form.`,
        `Say what is wrong and how to put it right. Give your own answer to the question too.`,
      ),
      tools: [],
    },
  },
]

const byId = new Map(plainRoles.map((role) => [role.id, role]))

/** A role of the library, or a plain role; the library's own takes precedence. Throws if unknown. */
export function roleCalled(library: Library, id: string): Role {
  const plain = byId.get(id)
  if (plain !== undefined && library.roles.every((role) => role.id !== id)) return plain
  return library.roles[library.space.indexOf(id)]!
}

export function isPlainRole(id: string): boolean {
  return byId.has(id)
}
