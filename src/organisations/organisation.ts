import type { z } from 'zod'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { Drive } from '../execution/drive.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { GraphLearner } from '../learning/graph-learner.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'

/** The groups of the paper's appendix C. `topology` and `route` appear only in its studies; `own` is for users. */
export type OrganisationCategory =
  | 'direct'
  | 'established'
  | 'adaptive'
  | 'topology'
  | 'route'
  | 'ours'
  | 'own'

/** What we wrote it from: a method section, released code, or our adaptation of an idea. */
export type Fidelity = 'paper' | 'released code' | 'adaptation'

/** How tables describe an organisation. */
export interface OrganisationAbout {
  /** Short, for a table column. */
  readonly name: string
  /** One sentence. */
  readonly description: string
  readonly category?: OrganisationCategory
  readonly fidelity?: Fidelity
}

/** Chooses the graph for a task before anything runs. The same task always gets the same graph. */
export interface Organiser extends OrganisationAbout {
  graphFor(task: Task): Promise<AgentGraph> | AgentGraph
}

/** Decides while it runs: which agent is called next, about what, and when to stop. */
export interface Driver extends OrganisationAbout {
  readonly drive: Drive
}

export type Organisation = Organiser | Driver

export function isDriver(organisation: Organisation): organisation is Driver {
  return 'drive' in organisation
}

/** What an organisation gets when it is opened. */
export interface OrganisationMeans {
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  /** Determines all draws, together with a task's id. */
  readonly seed: number
  /** Opens the text encoder, for organisations that embed texts. */
  readonly encoder: () => Promise<FrozenTextEncoder>
  /** The folder of the run that trained it, if any. */
  readonly trained?: string
  /** The folder in which options such as `run=NAME` look for runs. Default: `MAGIC_RUNS_DIR`, else `runs`. */
  readonly runs?: string
}

/** What a learner gets when it is created. */
export interface LearnerMeans extends Pick<OrganisationMeans, 'library' | 'profile' | 'seed'> {
  readonly encoder: FrozenTextEncoder
}

interface DefinitionBase<Options extends z.ZodObject> {
  readonly name: string
  readonly category: OrganisationCategory
  /** One sentence. */
  readonly description: string
  readonly fidelity: Fidelity
  /** Paper, repository and file it is based on. */
  readonly source: string
  /** How it differs from its source. */
  readonly differences: readonly string[]
  /** Its options, each with a default and a description. Stored with every evaluation. */
  readonly options: Options
  /** Learns in a training (`magic train --organisation`); `organise` then gets the run's folder as `means.trained`. */
  learner?(means: LearnerMeans, options: z.output<Options>): Awaitable<GraphLearner>
}

type Awaitable<Value> = Value | Promise<Value>

/** An organiser that has been opened. */
export interface Organising {
  readonly graphFor: (task: Task) => Awaitable<AgentGraph>
  /** Additional columns for its table row, such as the number of edges left out. */
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
