// The hierarchical regularizers of the paper's appendix A.3: for X the KL divergence or the entropy,
//   X(s) = X_r(s) + Σ_{r ≠ STOP} π(r | s) [X_z(s, r) + Σ_z π(z | r, s) Σ_j X_e(s, r, z, j)],
// over every legal branch, weighted by the current policy, with natural logarithms.
import type { ActionDistribution, Logits } from './distribution.ts'

interface Weights {
  readonly divergence: number
  readonly entropy: number
}

/** Entropy H of the policy. */
export function entropy(policy: ActionDistribution): number {
  return weigh(policy, policy, { divergence: 0, entropy: -1 })
}

/** KL(policy ‖ reference) over the same legal actions. */
export function klDivergence(policy: ActionDistribution, reference: ActionDistribution): number {
  return weigh(policy, reference, { divergence: 1, entropy: 0 })
}

/** Adds to `into` the gradient of scale · (divergence · KL − entropy · H) with respect to the tempered logits. */
export function addRegularizerGradient(
  policy: ActionDistribution,
  reference: ActionDistribution,
  weights: Weights,
  scale: number,
  into: Logits,
): void {
  weigh(policy, reference, weights, { scale, into })
}

/**
 * divergence · KL − entropy · H, which is Σ π v with v = divergence · (log π − log ρ) + entropy · log π. A softmax π
 * has the gradient π_i (v_i − Σ π v), because Σ π ∇log π = 0; the v of a branch includes that of the level below it.
 */
function weigh(
  policy: ActionDistribution,
  reference: ActionDistribution,
  { divergence, entropy }: Weights,
  gradient?: { readonly scale: number; readonly into: Logits },
): number {
  const value = (own: number, other: number) => divergence * (own - other) + entropy * own
  const { masks, units } = policy
  const own = policy.logProbabilities()
  const other = reference.logProbabilities()
  const stop = masks.roles.length - 1
  const roleValues = new Float64Array(stop + 1)
  const branchValues = new Float64Array(2)
  for (let role = 0; role <= stop; role += 1) {
    if (!masks.roles[role]) continue
    roleValues[role] = value(own.roles[role]!, other.roles[role]!)
    if (role === stop) continue
    const reach = Math.exp(own.roles[role]!)
    let mean = 0
    for (let z = 0; z < 2; z += 1) {
      const branch = role * 2 + z
      if (!masks.realizations[branch]) continue
      const probability = Math.exp(own.realizations[branch]!)
      let sum = value(own.realizations[branch]!, other.realizations[branch]!)
      for (let edge = branch * units; edge < (branch + 1) * units; edge += 1) {
        if (!masks.edges[edge]) continue
        const present = value(own.edges[edge]!, other.edges[edge]!)
        const absent = value(own.absentEdges[edge]!, other.absentEdges[edge]!)
        const p = Math.exp(own.edges[edge]!)
        const q = Math.exp(own.absentEdges[edge]!)
        sum += p * present + q * absent
        if (gradient)
          gradient.into.edges[edge]! += gradient.scale * reach * probability * p * q * (present - absent)
      }
      branchValues[z] = sum
      mean += probability * sum
    }
    roleValues[role]! += mean
    if (!gradient) continue
    for (let branch = role * 2; branch < role * 2 + 2; branch += 1) {
      if (!masks.realizations[branch]) continue
      const probability = Math.exp(own.realizations[branch]!)
      gradient.into.realizations[branch]! +=
        gradient.scale * reach * probability * (branchValues[branch & 1]! - mean)
    }
  }
  let total = 0
  for (let role = 0; role <= stop; role += 1) {
    if (masks.roles[role]) total += Math.exp(own.roles[role]!) * roleValues[role]!
  }
  if (gradient) {
    for (let role = 0; role <= stop; role += 1) {
      if (!masks.roles[role]) continue
      gradient.into.roles[role]! += gradient.scale * Math.exp(own.roles[role]!) * (roleValues[role]! - total)
    }
  }
  return total
}
