import type { RoleSpace } from './role-space.ts'
import type { ToolName } from './tool-name.ts'

/** One prompted agent: an atomic role, a worker of a group, or its aggregator. */
export interface Executor {
  /** Unique in the whole library. */
  readonly id: string
  /** One sentence, from which the realization's semantic vector is made. */
  readonly responsibility: string
  /** The system prompt. The execution layer adds protocol, answer requirement and tool instructions. */
  readonly prompt: string
  /** Permitted tools. Nothing is inherited, neither from the role's other realization nor within a group. */
  readonly tools: readonly ToolName[]
}

/** Three workers that all feed one aggregator; workers do not see each other. */
export interface Group {
  readonly workers: readonly [Executor, Executor, Executor]
  readonly aggregator: Executor
}

export interface Role {
  readonly id: string
  /** The role's purpose; its embedding is the role's semantic vector. */
  readonly description: string
  /** Output types accepted from predecessors. Absent: anything. Empty: no predecessors. */
  readonly accepts?: readonly string[]
  readonly produces: readonly string[]
  readonly atomic?: Executor
  readonly group?: Group
}

/** The prompts outside the graph that also affect answers. */
export interface OuterPrompts {
  /** For the summarizer that turns the results of all sinks into the final answer. */
  readonly finalizer: string
  /** For the empty graph: the model alone, with question, options and answer requirement. */
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
  /** The part that construction sees. */
  readonly space: RoleSpace
  /** In the order of `roles`. */
  readonly texts: readonly RoleTexts[]
  /** SHA-256 (hex) of everything that can change an answer or a legal graph. */
  readonly fingerprint: string
}

/** An executor as written by the user; `tools` defaults to none, and a prompt may be a list of paragraphs. */
export type ExecutorDefinition = Omit<Executor, 'tools' | 'prompt'> & {
  readonly prompt: string | readonly string[]
  readonly tools?: readonly ToolName[]
}

/** A group as written by the user. */
export interface GroupDefinition {
  readonly workers: readonly [ExecutorDefinition, ExecutorDefinition, ExecutorDefinition]
  readonly aggregator: ExecutorDefinition
}

/** A role as written by the user; `produces` defaults to `['analysis']`. At least one realization is required. */
export type RoleDefinition = Pick<Role, 'id' | 'description' | 'accepts'> & {
  readonly produces?: readonly string[]
  readonly atomic?: ExecutorDefinition
  readonly group?: GroupDefinition
}

/** A library as written by the user, in TypeScript or YAML; missing prompts default to the standard ones. */
export interface LibraryDefinition {
  readonly roles: readonly RoleDefinition[]
  readonly prompts?: Partial<OuterPrompts>
}

/** All executors a role has: atomic, workers, aggregator. */
export function executorsOf(role: Role): readonly Executor[] {
  const { atomic, group } = role
  return [...(atomic ? [atomic] : []), ...(group ? [...group.workers, group.aggregator] : [])]
}
