import { learnerSource } from '../organisations/learned/learner-source.ts'
import { learners } from '../organisations/learned/list.ts'
import { organisations } from '../organisations/list.ts'
import {
  type GivenOptions,
  openOrganisation,
  organisationCalled,
} from '../organisations/open-organisation.ts'
import type { Condition } from './conditions.ts'

/** A system from the literature by name, on our executor; trained first if it learns. */
export function listedCondition(name: string, id = name, options: GivenOptions = {}): Condition {
  const learned = learners.find((one) => one.name === name)
  if (learned !== undefined)
    return { id, fidelity: learned.fidelity, training: {}, learner: learnerSource(name, options) }
  const { fidelity } = organisationCalled(name)
  return {
    id,
    fidelity,
    async organisation({ library, profile }, { seed, encoder }) {
      const means = { library, profile, seed, encoder: async () => encoder }
      const { organisation } = await openOrganisation(name, means, options)
      return { ...organisation, name: id }
    },
  }
}

/** What each implementation is based on, and how it differs. */
export function listedNotes(names: readonly string[]): string[] {
  return [...organisations, ...learners]
    .filter(({ name }) => names.includes(name))
    .map(({ name, fidelity, source, differences }) =>
      [`${name} (${fidelity}): ${source}`, ...differences].join(' '),
    )
}

export const listedNames: readonly string[] = [...organisations, ...learners].map(({ name }) => name)
