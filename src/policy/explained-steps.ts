import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Action, Restriction } from '../graph/legality.ts'
import { realizations } from '../library/role-space.ts'
import type { ConstructionPolicy } from './policy.ts'

/** A decision with the probabilities behind it. */
export interface ExplainedStep {
  readonly action: Action
  /** Whether no other action was legal. */
  readonly forced: boolean
  readonly probability: number
  readonly stop: number
  readonly roles: Readonly<Record<string, number>>
  /** Of the chosen role. */
  readonly realizations?: Readonly<Record<string, number>>
  /** For the chosen branch, by the existing unit's position; null if the edge is illegal. */
  readonly edges?: readonly (number | null)[]
}

interface ShownConstruction {
  readonly query: Float32Array
  readonly steps: readonly { readonly graph: AgentGraph; readonly action: Action }[]
  readonly restriction: Restriction
  readonly temperature: number
}

export function explainSteps(
  policy: ConstructionPolicy,
  { query, steps, restriction, temperature }: ShownConstruction,
): ExplainedStep[] {
  const { roles } = policy.options
  return steps.map(({ graph, action }) => {
    const { distribution, masks } = policy.inspect(query, graph, { restriction, temperature })
    const common = {
      action,
      forced: distribution.stopProbability === 1,
      probability: Math.exp(distribution.logProbability(action)),
      stop: distribution.stopProbability,
      roles: Object.fromEntries(roles.roles.map(({ id }, role) => [id, distribution.roleProbability(role)])),
    }
    if (action.type === 'stop') return common
    const role = roles.indexOf(action.role)
    const branch = role * 2 + realizations.indexOf(action.realization)
    const shares = realizations.map((name, z) => [name, distribution.realizationProbability(role * 2 + z)])
    return {
      ...common,
      realizations: Object.fromEntries(shares),
      edges: graph.units.map((_, unit) =>
        masks.edges[branch * graph.size + unit] ? distribution.edgeProbability(branch, unit) : null,
      ),
    }
  })
}
