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
  readonly description: string
  readonly set: Pick<TaskSet, 'name' | 'library' | 'profile'>
  /** The one that the policy was trained with. */
  readonly encoder: FrozenTextEncoder
  readonly seed: number
  readonly restriction: Restriction
  readonly temperature: number
}

/** A construction, with all that its probabilities can be found again from. */
export type PolicyConstruction = Construction & ConstructionJob & { readonly query: Float32Array }

export interface PolicyOrganisation extends Organisation {
  graphFor(task: Task): Promise<AgentGraph>
  /** How the task's graph comes about, step by step. */
  constructionFor(task: Task): Promise<PolicyConstruction>
}

/**
 * A policy in use, by Procedure A2: it samples until STOP, without dropout. Its draws are fixed by seed and task id, and by
 * nothing else. What the policy learns later counts for graphs that are built later.
 */
export function policyOrganisation(
  policy: ConstructionPolicy,
  options: PolicyOrganisationOptions,
): PolicyOrganisation {
  const { name, description, set, encoder, seed, restriction, temperature } = options
  const constructionFor = async (task: Task) => {
    const query = await queryEmbedding(task, set, encoder)
    const random = deriveRandom(seed, 'inference', task.id)
    const job = { query, random, restriction, temperature, dropout: false }
    return { ...job, ...constructGraphs(policy, [job])[0]! }
  }
  return {
    name,
    description,
    graphFor: async (task) => (await constructionFor(task)).graph,
    constructionFor,
  }
}
