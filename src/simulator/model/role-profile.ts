import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type QuestionKind, questionKinds } from './question-kind.ts'

/**
 * What a role contributes. `plan` and `gather` prepare the answer and often give none themselves, `solve` finds one,
 * `check` works best if there is one to check.
 */
export type RoleJob = 'plan' | 'gather' | 'solve' | 'check'

export interface RoleProfile {
  readonly job: RoleJob
  /** From -1 (harmful) to 1 (ideal). */
  readonly suits: Readonly<Record<QuestionKind, number>>
  /** Whether it has nothing to work on if a question has no options. */
  readonly needsOptions: boolean
}

interface Roles {
  readonly profiles: Readonly<Record<string, readonly [RoleJob, ...number[]]>>
  readonly resemblances: Readonly<Record<string, string>>
}

const roles: Roles = parse(readFileSync(new URL('roles.yaml', import.meta.url), 'utf8'))

export const roleProfiles: ReadonlyMap<string, RoleProfile> = new Map(
  Object.entries(roles.profiles).map(([role, [job, ...suits]]) => {
    const byKind = Object.fromEntries(questionKinds.map((kind, index) => [kind, suits[index]]))
    const needsOptions = role === 'option_eliminator'
    return [role, { job, suits: byKind as Record<QuestionKind, number>, needsOptions }]
  }),
)

const resemblances = Object.entries(roles.resemblances).map(
  ([role, pattern]) => [role, new RegExp(pattern)] as const,
)

/** For unknown roles, the finalizer and the direct answer. */
export const anybody: RoleProfile = {
  job: 'solve',
  suits: { knowledge: 0, commonsense: 0, math: 0, code: 0, 'table-arithmetic': 0, 'table-claim': 0 },
  needsOptions: false,
}

/** The profile of a role. A role of a user's library counts as the known role its name resembles. */
export function profileOf(role: string): RoleProfile {
  const known = roleProfiles.get(role)
  if (known !== undefined) return known
  const name = role.slice(0, 64).toLowerCase()
  const [alike = ''] = resemblances.find(([, pattern]) => pattern.test(name)) ?? []
  return roleProfiles.get(alike) ?? anybody
}

/** Whether a role gives a plan or material instead of an answer. */
export function prepares({ job }: RoleProfile): boolean {
  return job === 'plan' || job === 'gather'
}
