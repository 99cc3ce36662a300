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
} from './baseline-organisations.ts'
import {
  type LoadOptions,
  loadPolicy,
  type TrainedOrganisation,
  type TrainedPolicy,
} from './trained-policy.ts'

/** The trained policy, restricted to one realization at use. (A policy trained with a restriction is a separate run.) */
export const restrictedAtUse = { 'atomic-at-use': 'all-atomic', 'group-at-use': 'all-group' } as const

/** Organisations that need a run. `searched` must first be found by `searchGraph`, which calls the model. */
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

/** One sentence each, for lists. */
export const runOrganisationSentences: Readonly<Record<RunOrganisationName, string>> = {
  trained: 'Graphs built by the trained policy.',
  untrained: 'Graphs built by the policy before training.',
  searched: 'The best fixed graph found by a search with as many evaluations as the training paid for.',
  shuffled: "The trained policy's graphs, each given to a different question.",
  'most-probable': "The trained policy's most probable choice at every step.",
  chain: "The library's roles in a row, as many as the policy may place.",
  parallel: "All of the library's roles side by side.",
  random: 'A random legal graph per question, within the limits of the policy.',
  'atomic-at-use': 'The trained policy, restricted to single agents.',
  'group-at-use': 'The trained policy, restricted to groups.',
}

/** `update` is the checkpoint to use as the trained policy. */
export interface NamedOrganisationOptions extends LoadOptions {
  /** With the task's id, determines all random draws. Default: the run's seed. */
  readonly seed?: number
  /** The questions to evaluate; `shuffled` exchanges their graphs. */
  readonly tasks: readonly Task[]
  /** The folder in which options such as `run=NAME` look for runs. Default: `MAGIC_RUNS_DIR`, else `runs`. */
  readonly runs?: string
}

/** Opens organisations by name, with the run's roles and limits. */
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
      const { runs } = options
      return openOrganisation(name, { library, profile, seed, encoder, trained: folder.path, runs }, given)
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

/** The policy before training. It always samples, even if the trained policy takes the most probable choices. */
export function untrainedOrganisation(policy: TrainedPolicy, seed?: number): TrainedOrganisation {
  const { useTemperature, temperatureEnd } = policy.run.training
  return policy.organisation(useTemperature === undefined ? { seed } : { seed, temperature: temperatureEnd })
}
