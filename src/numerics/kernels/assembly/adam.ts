import { addLanes, loadLanes, storeLanes } from './lanes'

/**
 * One Adam step over n parameters. The bias corrections come in `stepSize` (lr / (1 - β1ᵗ)) and `rootCorrection`
 * (1 / sqrt(1 - β2ᵗ)). Gradients are zero afterwards: the next backward pass adds to them.
 */
export function adam(
  n: i32,
  parameters: usize,
  gradients: usize,
  first: usize,
  second: usize,
  beta1: f32,
  oneMinusBeta1: f32,
  beta2: f32,
  oneMinusBeta2: f32,
  stepSize: f32,
  rootCorrection: f32,
  epsilon: f32,
): void {
  for (let i: i32 = 0; i < n; i += 4) {
    const o: usize = i << 2
    const count = n - i
    const g = loadLanes(gradients + o, count)
    const m = f32x4.add(
      f32x4.mul(f32x4.splat(beta1), loadLanes(first + o, count)),
      f32x4.mul(f32x4.splat(oneMinusBeta1), g),
    )
    const mixed = f32x4.add(
      f32x4.mul(f32x4.splat(beta2), loadLanes(second + o, count)),
      f32x4.mul(f32x4.splat(oneMinusBeta2), f32x4.mul(g, g)),
    )
    // A finite gradient may have an infinite square. Infinity would never decay, and its weight never move again.
    const v = f32x4.min(mixed, f32x4.splat(f32.MAX_VALUE))
    // A moment that only decays would end as a subnormal number, slow for hundreds of steps; it has no effect long before.
    storeLanes(first + o, v128.and(m, f32x4.gt(f32x4.abs(m), f32x4.splat(1e-30))), count)
    storeLanes(second + o, v128.and(v, f32x4.gt(v, f32x4.splat(1e-30))), count)
    const denominator = f32x4.add(f32x4.mul(f32x4.sqrt(v), f32x4.splat(rootCorrection)), f32x4.splat(epsilon))
    addLanes(parameters + o, f32x4.neg(f32x4.div(f32x4.mul(f32x4.splat(stepSize), m), denominator)), count)
    storeLanes(gradients + o, f32x4.splat(0), count)
  }
}

/** Whether all n values are finite: x·0 is 0 for a finite x and NaN for the others. */
export function allFinite(n: i32, x: usize): bool {
  let s = f32x4.splat(0)
  for (let i: i32 = 0; i < n; i += 4)
    s = f32x4.add(s, f32x4.mul(loadLanes(x + (i << 2), n - i), f32x4.splat(0)))
  return !v128.any_true(f32x4.ne(s, f32x4.splat(0)))
}
