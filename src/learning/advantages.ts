import { requireFinite } from './finite.ts'

/** With returns scaled to at most 1, a deviation below this is rounding noise. */
const noDeviation = 1e-12

/**
 * Position-aligned advantages: A_{k,t} = (G_{k,t} − μ_t) / (σ_t + ε), with μ_t and σ_t (population) over the
 * trajectories that have an action at position t, whether STOP or an addition. `returns[k]` and the result have one
 * entry per action of trajectory k, STOP included; shorter trajectories are not padded. A position with nothing to
 * compare (one trajectory, all zero, or no deviation) gives 0.
 */
export function positionAligned(returns: readonly (readonly number[])[], epsilon: number): number[][] {
  const advantages = returns.map((ofTrajectory) => new Array<number>(ofTrajectory.length).fill(0))
  const longest = returns.reduce((length, ofTrajectory) => Math.max(length, ofTrajectory.length), 0)
  for (let position = 0; position < longest; position += 1) {
    const present = [...returns.keys()].filter((k) => position < returns[k]!.length)
    const atPosition = present.map((k) =>
      requireFinite(returns[k]![position]!, `return of action ${position} in trajectory ${k}`),
    )
    const normalized = normalize(atPosition, epsilon)
    for (const [index, k] of present.entries()) advantages[k]![position] = normalized[index]!
  }
  return advantages
}

/** Scales by the largest absolute value m, and ε by 1/m: mathematically the same, but squares cannot over- or underflow. */
function normalize(returns: readonly number[], epsilon: number): number[] {
  const nothing = returns.map(() => 0)
  const largest = returns.reduce((m, value) => Math.max(m, Math.abs(value)), 0)
  if (returns.length < 2 || largest === 0) return nothing
  const scaled = returns.map((value) => value / largest)
  const mean = scaled.reduce((sum, value) => sum + value, 0) / scaled.length
  const variance = scaled.reduce((sum, value) => sum + (value - mean) ** 2, 0) / scaled.length
  const deviation = Math.sqrt(variance)
  if (deviation < noDeviation) return nothing
  return scaled.map((value) => (value - mean) / (deviation + epsilon / largest))
}
