import { Problem } from '../problem.ts'

/** How a role is carried out: by one agent, or by a predefined group of three workers and an aggregator. */
export type Realization = 'atomic' | 'group'

/** In the order of the policy's granularity head: row 0 atomic, row 1 group. */
export const realizations: readonly Realization[] = ['atomic', 'group']

/** What construction sees of a role: its name and realizations. */
export interface RoleShape {
  readonly id: string
  readonly atomic: boolean
  readonly group: boolean
}

/** What construction sees of a library. Prompts and tools are not included: the policy never reads them. */
export interface RoleSpace {
  readonly roles: readonly RoleShape[]
  /** Whether the output of role `from` fits the input of role `to`, both by index. Not symmetric. */
  readonly compatible: (from: number, to: number) => boolean
  /** The index of a role. Throws if the library does not have it. */
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
