import { Problem } from '../problem.ts'

/** How a role may be carried out: by one agent, or by a ready-made group of three workers and an aggregator. */
export type Realization = 'atomic' | 'group'

/** In the order of the policy's granularity head: row 0 atomic, row 1 group. */
export const realizations: readonly Realization[] = ['atomic', 'group']

/** What construction sees of a role: its name and the realizations that it has. */
export interface RoleShape {
  readonly id: string
  readonly atomic: boolean
  readonly group: boolean
}

/** What construction sees of a library. Prompts and tools are no part of it: the policy never reads them. */
export interface RoleSpace {
  readonly roles: readonly RoleShape[]
  /** Whether the output of role `from` fits the input of role `to`, both by position. Directed. */
  readonly compatible: (from: number, to: number) => boolean
  /** The position of a role. Throws for a role that the library does not have. */
  readonly indexOf: (role: string) => number
}

export function defineRoleSpace(
  roles: readonly RoleShape[],
  compatible: (from: number, to: number) => boolean = () => true,
): RoleSpace {
  const positions = new Map(roles.map((role, index) => [role.id, index]))
  return {
    roles,
    compatible,
    indexOf(role) {
      const index = positions.get(role)
      if (index === undefined) throw new UnknownRoleError(role, [...positions.keys()])
      return index
    },
  }
}

export class UnknownRoleError extends Problem {
  constructor(role: string, known: readonly string[]) {
    super(`The library has no role '${role}'. It has: ${known.join(', ')}.`)
  }
}
