import { chooseEncoder } from '../encoder/choose-encoder.ts'
import type { Task } from '../library/task.ts'
import {
  type GivenOptions,
  type NamedOrganisation,
  openOrganisation,
} from '../organisations/open-organisation.ts'
import type { RunFolder } from '../store/run-folder.ts'
import {
  chainOrganisation,
  parallelOrganisation,
  randomOrganisation,
  shuffledOrganisation,
} from './organisation.ts'
import {
  type LoadOptions,
  loadPolicy,
  type TrainedOrganisation,
  type TrainedPolicy,
} from './trained-policy.ts'

/** The trained policy, held to one realization at use. A policy trained under the restriction is a run of its own. */
export const restrictedAtUse = { 'atomic-at-use': 'all-atomic', 'group-at-use': 'all-group' } as const

/** What only a run can be evaluated as. `searched` asks a model before it is known: `searchGraph` finds it. */
export const runOrganisationNames = [
  'trained',
  'untrained',
  'searched',
  'shuffled',
  'most-probable',
  'chain',
  'parallel',
  'random',
  'atomic-at-use',
  'group-at-use',
] as const

export type RunOrganisationName = (typeof runOrganisationNames)[number]

/** In a sentence each, for lists. */
export const runOrganisationSentences: Readonly<Record<RunOrganisationName, string>> = {
  trained: 'The graphs that the trained policy builds.',
  untrained: 'The graphs that the policy built before it was trained.',
  searched: 'The best fixed graph that a search finds with as many evaluations as the training paid for.',
  shuffled: "The trained policy's graphs, each for another question than it was built for.",
  'most-probable': "The trained policy's most probable choice at every step.",
  chain: "The library's roles in a row, as many as the policy may place.",
  parallel: "All of the library's roles side by side.",
  random: 'A random legal graph per question, within the limits of the policy.',
  'atomic-at-use': 'The trained policy, held to single agents.',
  'group-at-use': 'The trained policy, held to groups.',
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
): (name: string, given?: GivenOptions) => Promise<NamedOrganisation> {
  const run = folder.readRecord()
  const library = folder.readLibrary(run)
  const { training: limits } = run
  const seed = options.seed ?? limits.seed
  let loaded: Promise<TrainedPolicy> | undefined
  return async (name, given): Promise<NamedOrganisation> => {
    if (!isRunOrganisation(name)) {
      const { profile } = run
      const encoder = async () => options.encoder ?? (await chooseEncoder()).encoder
      return openOrganisation(name, { library, profile, seed, encoder, trained: folder.path }, given)
    }
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
    if (name === 'searched') throw new Error('A searched graph is found by `searchGraph`.')
    const restricted = {
      seed,
      restriction: restrictedAtUse[name],
      name: `${policy.organisation().name}, ${name}`,
    }
    return { organisation: policy.organisation(restricted), about }
  }
}

export function isRunOrganisation(name: string): name is RunOrganisationName {
  return (runOrganisationNames as readonly string[]).includes(name)
}

/** What a training begins with: it draws, also where the trained policy takes the most probable choices. */
export function untrainedOrganisation(policy: TrainedPolicy, seed?: number): TrainedOrganisation {
  const { useTemperature, temperatureEnd } = policy.run.training
  return policy.organisation(useTemperature === undefined ? { seed } : { seed, temperature: temperatureEnd })
}
