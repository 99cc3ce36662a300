import type { AgentGraph } from '../../graph/agent-graph.ts'
import { type Action, type ConstructionSpace, IllegalActionError, whyIllegal } from '../../graph/legality.ts'
import { realizations } from '../../library/role-space.ts'
import {
  add,
  concat,
  dotProduct,
  exp,
  logSigmoid,
  logSoftmax,
  multiply,
  scale,
  slice,
  subtract,
} from '../../numerics/plain/operations.ts'
import { constant, type Value } from '../../numerics/plain/value.ts'
import type { PlainDecision } from './network.ts'

/** Log-probabilities of the legal choices, and the position of each choice among them. */
interface Categorical {
  readonly logs: Value
  readonly positions: ReadonlyMap<number, number>
}

/** A role's legal realizations and, per realization, the tempered logits of its legal predecessors. */
interface RoleBranch {
  readonly realizations: Categorical
  readonly edges: ReadonlyMap<number, ReadonlyMap<number, Value>>
}

/**
 * The tempered hierarchical distribution of one decision. It contains only legal choices, so masked branches add
 * nothing. Probabilities stay logarithms until they are used as weights, so saturated logits give finite numbers: 0 ·
 * log 0 becomes 0 times something finite.
 */
export class PlainDistribution {
  readonly roles: Categorical
  readonly branches: ReadonlyMap<number, RoleBranch>
  readonly #stop: number
  readonly #graph: AgentGraph
  readonly #space: ConstructionSpace

  constructor(decision: PlainDecision, temperature: number) {
    if (!(temperature > 0)) throw new RangeError(`The temperature is ${temperature}; it must be above 0.`)
    const tempered = (logits: readonly (Value | null)[]) =>
      legalOf(logits).map(([index, logit]) => [index, scale(logit, 1 / temperature)] as const)
    const { graph, space } = decision
    this.#graph = graph
    this.#space = space
    this.#stop = decision.roleLogits.length - 1
    this.roles = categorical(tempered(decision.roleLogits))
    this.branches = new Map(
      legalOf(decision.roleLogits.slice(0, -1)).map(([role]) => {
        const choices = tempered(decision.granularityLogits.slice(role * 2, role * 2 + 2))
        const edges = choices.map(([z]) => {
          const start = (role * 2 + z) * graph.size
          return [z, new Map(tempered(decision.edgeLogits.slice(start, start + graph.size)))] as const
        })
        return [role, { realizations: categorical(choices), edges: new Map(edges) }]
      }),
    )
  }

  /** log π(r) + log π(z | r) + Σ_j [b_j log p_j + (1 − b_j) log(1 − p_j)]; throws for an illegal action. */
  logProbability(action: Action): Value {
    const reason = whyIllegal(action, this.#graph, this.#space)
    if (reason !== undefined) throw new IllegalActionError(reason)
    if (action.type === 'stop') return logOf(this.roles, this.#stop)
    const role = this.#space.roles.indexOf(action.role)
    const z = realizations.indexOf(action.realization)
    const branch = this.branches.get(role)!
    const edges = [...branch.edges.get(z)!].map(([j, logit]) =>
      logSigmoid(action.predecessors.includes(j) ? logit : scale(logit, -1)),
    )
    return add(logOf(this.roles, role), logOf(branch.realizations, z), ...edges)
  }

  entropy(): Value {
    return scale(this.#hierarchical(), -1)
  }

  /** KL(this ‖ reference) over the same legal choices. */
  divergence(reference: PlainDistribution): Value {
    return this.#hierarchical(reference)
  }

  /**
   * X = X_r + Σ_{r ≠ STOP} π(r) [X_z(r) + Σ_z π(z | r) Σ_j X_e(r, z, j)], where X of a choice is its divergence from
   * the reference or, without a reference, its negative entropy.
   */
  #hierarchical(reference?: PlainDistribution): Value {
    let total = expected(this.roles.logs, reference?.roles.logs)
    for (const [role, branch] of this.branches) {
      const other = reference?.branches.get(role)
      let inner = expected(branch.realizations.logs, other?.realizations.logs)
      for (const [z, edges] of branch.edges) {
        for (const [j, logit] of edges) {
          const otherLogit = other?.edges.get(z)?.get(j)
          const edge = expected(outcomes(logit), otherLogit && outcomes(otherLogit))
          inner = add(inner, multiply(exp(logOf(branch.realizations, z)), edge))
        }
      }
      total = add(total, multiply(exp(logOf(this.roles, role)), inner))
    }
    return total
  }
}

function legalOf(logits: readonly (Value | null)[]): [number, Value][] {
  return [...logits.entries()].filter((entry): entry is [number, Value] => entry[1] !== null)
}

function categorical(choices: readonly (readonly [number, Value])[]): Categorical {
  return {
    logs: logSoftmax(concat(...choices.map(([, logit]) => logit))),
    positions: new Map(choices.map(([index], position) => [index, position])),
  }
}

function logOf({ logs, positions }: Categorical, choice: number): Value {
  return slice(logs, positions.get(choice)!, 1)
}

/** Σ p (log p − log p_ref), or Σ p log p. */
function expected(logs: Value, reference?: Value): Value {
  return dotProduct(exp(logs), reference === undefined ? logs : subtract(logs, reference))
}

/** The log-probabilities of an edge's two outcomes: present, absent. 1 − σ(x) is computed as σ(−x) to avoid cancellation. */
function outcomes(logit: Value): Value {
  return logSigmoid(multiply(logit, constant([1, -1])))
}
