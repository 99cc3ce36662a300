import type { Task } from '../library/task.ts'
import type { Organisation, Organiser } from '../organisations/organisation.ts'
import type { RunFolder } from '../store/run-folder.ts'
import {
  chainOrganisation,
  directOrganisation,
  parallelOrganisation,
  randomOrganisation,
  shuffledOrganisation,
} from './organisation.ts'
import { type LoadOptions, loadPolicy, type TrainedPolicy } from './trained-policy.ts'

/** The trained policy, held to one realization at use. A policy trained under the restriction is a run of its own. */
const restrictedAtUse = { 'atomic-at-use': 'all-atomic', 'group-at-use': 'all-group' } as const

/** What a run can be evaluated as. `searched` asks a model before it is known: `searchGraph` finds it. */
export const organisationNames = [
  'trained',
  'untrained',
  'searched',
  'shuffled',
  'most-probable',
  'direct',
  'chain',
  'parallel',
  'random',
  'atomic-at-use',
  'group-at-use',
] as const

export type OrganisationName = (typeof organisationNames)[number]

/** An organisation, and what distinguishes it from others of its name. */
export interface NamedOrganisation {
  readonly organisation: Organisation
  readonly about: Readonly<Record<string, string | number>>
}

/** `update` is the checkpoint that counts as trained. */
export interface NamedOrganisationOptions extends LoadOptions {
  /** Fixes, with a task's id, the draws; the run's own by default. */
  readonly seed?: number
  /** The questions to be evaluated, which `shuffled` passes the graphs around between. */
  readonly tasks: readonly Task[]
}

/** Opens organisations of a run by their names, with the run's roles and limits. */
export function organisationsOf(
  folder: RunFolder,
  options: NamedOrganisationOptions,
): (name: Exclude<OrganisationName, 'searched'>) => Promise<NamedOrganisation> {
  const run = folder.readRecord()
  const library = folder.readLibrary(run)
  const { training: limits } = run
  const seed = options.seed ?? limits.seed
  let loaded: Promise<TrainedPolicy> | undefined
  return async (name): Promise<NamedOrganisation> => {
    if (name === 'direct') return { organisation: directOrganisation(), about: {} }
    if (name === 'chain') return { organisation: chainOrganisation(library, limits), about: {} }
    if (name === 'parallel') return { organisation: parallelOrganisation(library), about: {} }
    if (name === 'random') return { organisation: randomOrganisation(library, limits, seed), about: { seed } }
    loaded ??= loadPolicy(folder, options)
    const trained = await loaded
    const { encoder } = trained
    const policy = name === 'untrained' ? await loadPolicy(folder, { encoder, update: 0 }) : trained
    const about = { update: policy.update, seed }
    if (name === 'trained') return { organisation: policy.organisation({ seed }), about }
    if (name === 'untrained') return { organisation: untrainedOrganisation(policy, seed), about }
    if (name === 'shuffled')
      return { organisation: shuffledOrganisation(policy.organisation({ seed }), options.tasks, seed), about }
    if (name === 'most-probable')
      return {
        organisation: policy.organisation({
          temperature: 0,
          name: `${policy.organisation().name}, most-probable`,
        }),
        about: { update: policy.update },
      }
    const restricted = {
      seed,
      restriction: restrictedAtUse[name],
      name: `${policy.organisation().name}, ${name}`,
    }
    return { organisation: policy.organisation(restricted), about }
  }
}

/** What a training begins with: it draws, also where the trained policy takes the most probable choices. */
export function untrainedOrganisation(policy: TrainedPolicy, seed: number): Organiser {
  const { useTemperature, temperatureEnd } = policy.run.training
  return policy.organisation(useTemperature === undefined ? { seed } : { seed, temperature: temperatureEnd })
}
