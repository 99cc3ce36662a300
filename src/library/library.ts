import type { RoleSpace } from './role-space.ts'
import type { ToolName } from './tool-name.ts'

/** One prompted agent: an atomic role, a worker of a group, or its aggregator. */
export interface Executor {
  /** Unique in the whole library. */
  readonly id: string
  /** One sentence; the realization's semantic vector is made from it. */
  readonly responsibility: string
  /** The system prompt. The execution layer adds protocol, answer requirement and tool instructions. */
  readonly prompt: string
  /** What it may use. Nothing is inherited, neither from the role's other realization nor inside a group. */
  readonly tools: readonly ToolName[]
}

/** Three workers that all feed one aggregator; workers do not see each other. */
export interface Group {
  readonly workers: readonly [Executor, Executor, Executor]
  readonly aggregator: Executor
}

export interface Role {
  readonly id: string
  /** What the role is for; its embedding is the role's semantic vector. */
  readonly description: string
  /** Output types that it takes from predecessors. Absent: anything. Empty: it never has predecessors. */
  readonly accepts?: readonly string[]
  readonly produces: readonly string[]
  readonly atomic?: Executor
  readonly group?: Group
}

/** The prompts outside the graph that still decide how a library answers. */
export interface OuterPrompts {
  /** For the summarizer that turns the results of all sinks into the final answer. */
  readonly finalizer: string
  /** For the empty graph: the model alone with question, options and answer requirement. */
  readonly direct: string
}

/** The texts whose embeddings are a role's semantic vectors. */
export interface RoleTexts {
  readonly role: string
  readonly atomic?: string
  readonly group?: string
}

/** A validated, frozen role library. */
export interface Library {
  readonly roles: readonly Role[]
  readonly prompts: OuterPrompts
  /** What construction sees of it. */
  readonly space: RoleSpace
  /** In the order of `roles`. */
  readonly texts: readonly RoleTexts[]
  /** SHA-256 (hex) of everything that can change an answer or a legal graph. */
  readonly fingerprint: string
}

/** An executor as it is written; `tools` defaults to none, and a prompt may be a list of paragraphs. */
export type ExecutorDefinition = Omit<Executor, 'tools' | 'prompt'> & {
  readonly prompt: string | readonly string[]
  readonly tools?: readonly ToolName[]
}

/** A group as it is written. */
export interface GroupDefinition {
  readonly workers: readonly [ExecutorDefinition, ExecutorDefinition, ExecutorDefinition]
  readonly aggregator: ExecutorDefinition
}

/** A role as it is written; `produces` defaults to `['analysis']`. At least one realization is needed. */
export type RoleDefinition = Pick<Role, 'id' | 'description' | 'accepts'> & {
  readonly produces?: readonly string[]
  readonly atomic?: ExecutorDefinition
  readonly group?: GroupDefinition
}

/** A library as it is written, in TypeScript or YAML; prompts that are left out are the standard ones. */
export interface LibraryDefinition {
  readonly roles: readonly RoleDefinition[]
  readonly prompts?: Partial<OuterPrompts>
}

/** All executors of a role: the atomic one, the workers, the aggregator, as far as it has them. */
export function executorsOf(role: Role): readonly Executor[] {
  const { atomic, group } = role
  return [...(atomic ? [atomic] : []), ...(group ? [...group.workers, group.aggregator] : [])]
}
