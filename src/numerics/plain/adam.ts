import type { AdamSettings } from '../adam.ts'

/** Running means of every tensor's gradient and its square, and their shared step count. */
export interface PlainAdamState {
  readonly step: number
  readonly first: ReadonlyMap<string, Float64Array>
  readonly second: ReadonlyMap<string, Float64Array>
}

export const freshAdam: PlainAdamState = { step: 0, first: new Map(), second: new Map() }

/**
 * One step of Adam in doubles, without weight decay or clipping. Inputs are not modified. Every tensor takes part, so
 * one with zero gradient still moves while its moments decay.
 */
export function adamStep(
  weights: ReadonlyMap<string, Float64Array>,
  gradients: ReadonlyMap<string, Float64Array>,
  state: PlainAdamState,
  { learningRate, beta1, beta2, epsilon }: AdamSettings,
): [Map<string, Float64Array>, PlainAdamState] {
  const step = state.step + 1
  const correction1 = 1 - beta1 ** step
  const correction2 = 1 - beta2 ** step
  const after = new Map<string, Float64Array>()
  const first = new Map<string, Float64Array>()
  const second = new Map<string, Float64Array>()
  for (const [name, weight] of weights) {
    const gradient = gradients.get(name)
    if (gradient?.length !== weight.length) throw new RangeError(`The gradient of '${name}' does not fit it.`)
    const m = state.first.get(name)?.slice() ?? new Float64Array(weight.length)
    const v = state.second.get(name)?.slice() ?? new Float64Array(weight.length)
    const moved = weight.slice()
    for (let i = 0; i < weight.length; i += 1) {
      const g = gradient[i]!
      m[i] = beta1 * m[i]! + (1 - beta1) * g
      v[i] = beta2 * v[i]! + (1 - beta2) * g * g
      const mean = m[i]! / correction1
      const square = v[i]! / correction2
      moved[i]! -= (learningRate * mean) / (Math.sqrt(square) + epsilon)
    }
    after.set(name, moved)
    first.set(name, m)
    second.set(name, v)
  }
  return [after, { step, first, second }]
}
