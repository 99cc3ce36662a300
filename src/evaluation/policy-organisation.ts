import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Restriction } from '../graph/legality.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type Construction, type ConstructionJob, constructGraphs } from '../policy/construction.ts'
import type { ConstructionPolicy } from '../policy/policy.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import type { Organisation } from './organisation.ts'

export interface PolicyOrganisationOptions {
  readonly name: string
  readonly description?: string
  readonly set: Pick<TaskSet, 'name' | 'library' | 'profile'>
  /** The one that the policy was trained with. */
  readonly encoder: FrozenTextEncoder
  readonly seed: number
  readonly restriction?: Restriction
  /** The end of the training's schedule, 1, by default. */
  readonly temperature?: number
}

export interface PolicyOrganisation extends Organisation {
  graphFor(task: Task): Promise<AgentGraph>
  /** The same graphs as one by one, in the order of the tasks; quicker. */
  graphsFor(tasks: readonly Task[]): Promise<AgentGraph[]>
  /** How the task's graph comes about, step by step. */
  constructionFor(task: Task): Promise<PolicyConstruction>
}

/** A construction, with all that its probabilities can be found again from. */
export interface PolicyConstruction extends Construction {
  readonly query: Float32Array
  readonly restriction: Restriction
  readonly temperature: number
}

/** Graphs that are built together: enough to fill the kernels, few enough for a small workspace. */
const graphsPerBatch = 128

/**
 * A policy in use, by Procedure A2: it samples until STOP, without dropout. Its draws are fixed by seed and task id, and by
 * nothing else. What the policy learns later counts for graphs that are built later.
 */
export function policyOrganisation(
  policy: ConstructionPolicy,
  options: PolicyOrganisationOptions,
): PolicyOrganisation {
  const { name, set, encoder, seed, restriction = 'mixed', temperature = 1 } = options
  const jobFor = async (task: Task) => ({
    query: await queryEmbedding(task, set, encoder),
    random: deriveRandom(seed, 'inference', task.id),
    restriction,
    temperature,
    dropout: false,
  })
  const graphsFor = async (tasks: readonly Task[]): Promise<AgentGraph[]> => {
    const graphs: AgentGraph[] = []
    for (let start = 0; start < tasks.length; start += graphsPerBatch) {
      const jobs: ConstructionJob[] = []
      for (const task of tasks.slice(start, start + graphsPerBatch)) jobs.push(await jobFor(task))
      graphs.push(...constructGraphs(policy, jobs).map(({ graph }) => graph))
    }
    return graphs
  }
  return {
    name,
    description: options.description ?? 'A graph that the policy builds for each question.',
    graphFor: async (task) => (await graphsFor([task]))[0]!,
    graphsFor,
    constructionFor: async (task) => {
      const job = await jobFor(task)
      return { ...constructGraphs(policy, [job])[0]!, query: job.query, restriction, temperature }
    },
  }
}
