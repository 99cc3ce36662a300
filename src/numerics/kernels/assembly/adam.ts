import { addLanes, loadLanes, madd, storeLanes } from './lanes'
import { outer } from './products'

/** Adam on n parameters that lie together; see `adam` for the constants. */
function step(
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
  const whole: usize = <usize>(n & ~3) << 2
  for (let o: usize = 0; o < whole; o += 16) {
    const g = v128.load(gradients + o)
    const m = firstMoment(v128.load(first + o), g, beta1, oneMinusBeta1)
    const v = secondMoment(v128.load(second + o), g, beta2, oneMinusBeta2)
    v128.store(first + o, m)
    v128.store(second + o, v)
    v128.store(parameters + o, f32x4.sub(v128.load(parameters + o), move(m, v, stepSize, rootCorrection, epsilon)))
  }
  const rest = n & 3
  if (rest) {
    const g = loadLanes(gradients + whole, rest)
    const m = firstMoment(loadLanes(first + whole, rest), g, beta1, oneMinusBeta1)
    const v = secondMoment(loadLanes(second + whole, rest), g, beta2, oneMinusBeta2)
    storeLanes(first + whole, m, rest)
    storeLanes(second + whole, v, rest)
    addLanes(parameters + whole, f32x4.neg(move(m, v, stepSize, rootCorrection, epsilon)), rest)
  }
}

// A moment that only decays would end as a subnormal number, slow for hundreds of steps. Below this it is zero, long
// after it has had any effect.
const least: f32 = 1e-30

// @ts-ignore: decorator
@inline
function firstMoment(m: v128, g: v128, beta1: f32, oneMinusBeta1: f32): v128 {
  const mixed = madd(f32x4.splat(oneMinusBeta1), g, f32x4.mul(f32x4.splat(beta1), m))
  return v128.and(mixed, f32x4.gt(f32x4.abs(mixed), f32x4.splat(least)))
}

// @ts-ignore: decorator
@inline
function secondMoment(v: v128, g: v128, beta2: f32, oneMinusBeta2: f32): v128 {
  const mixed = madd(f32x4.splat(oneMinusBeta2), f32x4.mul(g, g), f32x4.mul(f32x4.splat(beta2), v))
  // A finite gradient may have an infinite square. Infinity would never decay, and its weight never move again.
  const finite = f32x4.pmin(mixed, f32x4.splat(f32.MAX_VALUE))
  return v128.and(finite, f32x4.gt(finite, f32x4.splat(least)))
}

// @ts-ignore: decorator
@inline
function move(m: v128, v: v128, stepSize: f32, rootCorrection: f32, epsilon: f32): v128 {
  const denominator = madd(f32x4.sqrt(v), f32x4.splat(rootCorrection), f32x4.splat(epsilon))
  return f32x4.div(f32x4.mul(f32x4.splat(stepSize), m), denominator)
}

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
  step(
    n, parameters, gradients, first, second,
    beta1, oneMinusBeta1, beta2, oneMinusBeta2, stepSize, rootCorrection, epsilon,
  )
  memory.fill(gradients, 0, <usize>n << 2)
}

/** Rows of a matrix whose gradient is in the first-level cache at a time. */
const blockRows: i32 = 8

/**
 * Adam on a matrix [n×k] whose gradient is a sum of terms: aᵀ·b, with a [m×n] and b [m×width], added to its columns from
 * `column` on. The gradient is never written to memory: it is as large as the weights, and an update is bound by what it
 * reads and writes. `terms` lists m, a, lda, b, ldb, column, width for each; `scratch` has room for `blockRows` rows.
 */
export function outerAdam(
  count: i32,
  terms: usize,
  n: i32,
  k: i32,
  parameters: usize,
  first: usize,
  second: usize,
  scratch: usize,
  beta1: f32,
  oneMinusBeta1: f32,
  beta2: f32,
  oneMinusBeta2: f32,
  stepSize: f32,
  rootCorrection: f32,
  epsilon: f32,
): void {
  const row: usize = <usize>k << 2
  for (let j: i32 = 0; j < n; j += blockRows) {
    const rows = min(blockRows, n - j)
    memory.fill(scratch, 0, row * rows)
    for (let t: i32 = 0; t < count; t++) {
      const term = terms + <usize>t * 28
      outer(
        i32.load(term), rows, i32.load(term, 24),
        <usize>i32.load(term, 4) + (<usize>j << 2), i32.load(term, 8),
        <usize>i32.load(term, 12), i32.load(term, 16),
        scratch + (<usize>i32.load(term, 20) << 2), k,
      )
    }
    // The rows of a block lie together, whatever parts the weight is used in: one walk over all of them.
    const o = <usize>j * row
    step(
      rows * k, parameters + o, scratch, first + o, second + o,
      beta1, oneMinusBeta1, beta2, oneMinusBeta2, stepSize, rootCorrection, epsilon,
    )
  }
}

/** The largest magnitude among the entries of an m×k matrix; NaN where there is one. */
export function largest(m: i32, k: i32, x: usize, ld: i32): f32 {
  let s = f32x4.splat(0)
  for (let i: i32 = 0; i < m; i++, x += <usize>ld << 2) {
    for (let c: i32 = 0; c < k; c += 4) s = f32x4.max(s, f32x4.abs(loadLanes(x + (<usize>c << 2), k - c)))
  }
  return max(
    max(f32x4.extract_lane(s, 0), f32x4.extract_lane(s, 1)),
    max(f32x4.extract_lane(s, 2), f32x4.extract_lane(s, 3)),
  )
}

/** Whether all n values are finite: x·0 is 0 for a finite x and NaN for the others. */
export function allFinite(n: i32, x: usize): bool {
  let s = f32x4.splat(0)
  for (let i: i32 = 0; i < n; i += 4)
    s = madd(loadLanes(x + (i << 2), n - i), f32x4.splat(0), s)
  return !v128.any_true(f32x4.ne(s, f32x4.splat(0)))
}
