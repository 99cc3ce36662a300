import type { z } from 'zod'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Drive } from '../execution/drive.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { GraphLearner } from '../learning/graph-learner.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'

/** As the paper's appendix C groups them; `topology` and `route` are in its studies only, `own` is a user's. */
export type OrganisationCategory =
  | 'direct'
  | 'established'
  | 'adaptive'
  | 'topology'
  | 'route'
  | 'ours'
  | 'own'

/** What a recipe was written from: a method section, released code, or our own use of an idea. */
export type Fidelity = 'paper' | 'released code' | 'adaptation'

/** What a table says of an organisation. */
export interface OrganisationAbout {
  /** Short, for a column of a table. */
  readonly name: string
  /** One sentence for people. */
  readonly description: string
  readonly category?: OrganisationCategory
  readonly fidelity?: Fidelity
}

/** Says which graph works on a task, before anything is run. The same task always gets the same graph. */
export interface Organiser extends OrganisationAbout {
  graphFor(task: Task): Promise<AgentGraph> | AgentGraph
}

/** Decides while it runs: who is asked next, about what, and when it is enough. */
export interface Driver extends OrganisationAbout {
  readonly drive: Drive
}

export type Organisation = Organiser | Driver

export function isDriver(organisation: Organisation): organisation is Driver {
  return 'drive' in organisation
}

/** What an organisation is opened with. */
export interface OrganisationMeans {
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  /** Fixes, with a task's id, all draws. */
  readonly seed: number
  /** Opens the text encoder; for those that read texts. */
  readonly encoder: () => Promise<FrozenTextEncoder>
  /** The folder of the run that has trained it, if there is one. */
  readonly trained?: string
  /** The folder in which options such as `run=NAME` look for runs. Default: `MAGIC_RUNS_DIR`, else `runs`. */
  readonly runs?: string
}

/** What a learner is made for. */
export interface LearnerMeans extends Pick<OrganisationMeans, 'library' | 'profile' | 'seed'> {
  readonly encoder: FrozenTextEncoder
}

interface DefinitionBase<Options extends z.ZodObject> {
  readonly name: string
  readonly category: OrganisationCategory
  /** One sentence. */
  readonly description: string
  readonly fidelity: Fidelity
  /** Paper, repository and file that the recipe is from. */
  readonly source: string
  /** In what it differs from its source. */
  readonly differences: readonly string[]
  /** What can be set, each with a default and a description. Kept with every evaluation. */
  readonly options: Options
  /** What learns in a training (`magic train --organisation`); `organise` then finds its folder as `means.trained`. */
  learner?(means: LearnerMeans, options: z.output<Options>): Awaitable<GraphLearner>
}

type Awaitable<Value> = Value | Promise<Value>

/** An organiser that has been opened. */
export interface Organising {
  readonly graphFor: (task: Task) => Awaitable<AgentGraph>
  /** What a table's row has to say besides, such as edges that were left out. */
  readonly facts?: Readonly<Record<string, number | string>>
}

/** It organises. */
export interface OrganiserDefinition<Options extends z.ZodObject = z.ZodObject>
  extends DefinitionBase<Options> {
  organise(
    means: OrganisationMeans,
    options: z.output<Options>,
  ): Awaitable<Organising | Organising['graphFor']>
  readonly drive?: never
}

/** It drives. */
export interface DriverDefinition<Options extends z.ZodObject = z.ZodObject> extends DefinitionBase<Options> {
  drive(means: OrganisationMeans, options: z.output<Options>): Awaitable<Drive>
  readonly organise?: never
}

export type OrganisationDefinition<Options extends z.ZodObject = z.ZodObject> =
  | OrganiserDefinition<Options>
  | DriverDefinition<Options>

/**
 * A system of your own, or one of the literature: one file and one test.
 *
 * @example
 * export const twice = defineOrganisation({
 *   name: 'twice', category: 'own', fidelity: 'adaptation', source: 'our own', differences: [],
 *   description: 'Two solvers, and a vote.',
 *   options: z.object({}),
 *   organise: () => () => AgentGraph.of([1, 2].map((agent) => ({ role: 'solver', realization: 'atomic', predecessors: [], agent })), 'vote'),
 * })
 */
export function defineOrganisation<Options extends z.ZodObject>(
  definition: OrganisationDefinition<Options>,
): OrganisationDefinition<Options> {
  return definition
}
