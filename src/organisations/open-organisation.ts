import { z } from 'zod'
import { Problem } from '../problem.ts'
import { organisations } from './list.ts'
import type { Organisation, OrganisationDefinition, OrganisationMeans } from './organisation.ts'

/** An organisation, and what distinguishes it from others of its name. */
export interface NamedOrganisation {
  readonly organisation: Organisation
  readonly about: Readonly<Record<string, string | number>>
}

/** Options as given; missing ones get their defaults. */
export type GivenOptions = Readonly<Record<string, unknown>>

/** Opens a listed organisation or your own. */
export async function openOrganisation(
  given: string | OrganisationDefinition,
  means: OrganisationMeans,
  options: GivenOptions = {},
): Promise<NamedOrganisation> {
  const definition = typeof given === 'string' ? organisationCalled(given) : given
  const { name, description, category, fidelity } = definition
  const checked = definition.options.strict().safeParse(options)
  if (!checked.success) throw new OrganisationOptionError(definition, checked.error)
  const settings = Object.entries(options).map(([option, value]) => `:${option}=${String(value)}`)
  const about = { name: `${name}${settings.join('')}`, description, category, fidelity }
  // Defaults are left out, so that adding an option later does not change the identity of existing evaluations.
  const set = Object.fromEntries(
    Object.entries(options).map(([option, value]) => [
      option,
      typeof value === 'number' ? value : String(value),
    ]),
  )
  const seed: NamedOrganisation['about'] = name === 'direct' ? {} : { seed: means.seed }
  if (definition.drive !== undefined) {
    const drive = await definition.drive(means, checked.data)
    return { organisation: { ...about, drive }, about: { ...seed, ...set } }
  }
  const opened = await definition.organise(means, checked.data)
  const organising = typeof opened === 'function' ? { graphFor: opened } : opened
  const { graphFor, facts } = organising
  return { organisation: { ...about, graphFor }, about: { ...seed, ...set, ...facts } }
}

export function organisationCalled(name: string): OrganisationDefinition {
  const found = organisations.find((one) => one.name === name)
  if (found !== undefined) return found
  throw new Problem(
    `There is no organisation '${name}'. \`magic organisations\` lists them; these need no run: ${organisations.map((one) => one.name).join(', ')}.`,
  )
}

class OrganisationOptionError extends Problem {
  constructor({ name, options }: OrganisationDefinition, error: z.ZodError) {
    const known = Object.keys(options.shape).join(', ') || 'none'
    super(
      `An option of the organisation '${name}' is wrong. ${z.prettifyError(error)} Its options: ${known}.`,
    )
  }
}
