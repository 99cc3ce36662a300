import type { OrganisationDefinition } from './organisation.ts'

/** Every system that can be evaluated without a run, in the order of the paper's tables. */
export const organisations: readonly OrganisationDefinition[] = []
