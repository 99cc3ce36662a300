import { loadLanes, madd, storeLanes } from './lanes'
import { outer } from './products'

/**
 * One Adam step over n contiguous parameters. `constants` are β1, 1 − β1, β2, 1 − β2, the step size lr / (1 − β1ᵗ), the
 * root correction 1 / √(1 − β2ᵗ) and ε.
 */
function step(n: i32, parameters: usize, gradients: usize, first: usize, second: usize, constants: usize): void {
  const beta1 = v128.load32_splat(constants), rest1 = v128.load32_splat(constants, 4)
  const beta2 = v128.load32_splat(constants, 8), rest2 = v128.load32_splat(constants, 12)
  const stepSize = v128.load32_splat(constants, 16), rootCorrection = v128.load32_splat(constants, 20)
  const epsilon = v128.load32_splat(constants, 24)
  let o: usize = 0
  for (const whole: usize = <usize>(n & ~3) << 2; o < whole; o += 16) {
    move(
      4, parameters + o, gradients + o, first + o, second + o,
      beta1, rest1, beta2, rest2, stepSize, rootCorrection, epsilon,
    )
  }
  if (n & 3) {
    move(
      n & 3, parameters + o, gradients + o, first + o, second + o,
      beta1, rest1, beta2, rest2, stepSize, rootCorrection, epsilon,
    )
  }
}

// @ts-ignore: decorator
@inline
function move(
  count: i32, parameters: usize, gradients: usize, first: usize, second: usize,
  beta1: v128, rest1: v128, beta2: v128, rest2: v128, stepSize: v128, rootCorrection: v128, epsilon: v128,
): void {
  const g = loadLanes(gradients, count)
  const m = firstMoment(loadLanes(first, count), g, beta1, rest1)
  const v = secondMoment(loadLanes(second, count), g, beta2, rest2)
  storeLanes(first, m, count)
  storeLanes(second, v, count)
  const step = f32x4.div(f32x4.mul(stepSize, m), madd(f32x4.sqrt(v), rootCorrection, epsilon))
  storeLanes(parameters, f32x4.sub(loadLanes(parameters, count), step), count)
}

// A decaying moment would become subnormal, which is slow, and stay so for hundreds of steps. Below this value it has long
// had no effect and is set to zero.
const least: f32 = 1e-30

// @ts-ignore: decorator
@inline
function firstMoment(m: v128, g: v128, beta: v128, rest: v128): v128 {
  const mixed = madd(rest, g, f32x4.mul(beta, m))
  return v128.and(mixed, f32x4.gt(f32x4.abs(mixed), f32x4.splat(least)))
}

// @ts-ignore: decorator
@inline
function secondMoment(v: v128, g: v128, beta: v128, rest: v128): v128 {
  const mixed = madd(rest, f32x4.mul(g, g), f32x4.mul(beta, v))
  // A finite gradient may have an infinite square. Infinity would never decay, so the weight would never move again.
  const finite = f32x4.pmin(mixed, f32x4.splat(f32.MAX_VALUE))
  return v128.and(finite, f32x4.gt(finite, f32x4.splat(least)))
}

/** One Adam step over n parameters. Resets the gradients to zero, since the next backward pass adds to them. */
export function adam(n: i32, parameters: usize, gradients: usize, first: usize, second: usize, constants: usize): void {
  step(n, parameters, gradients, first, second, constants)
  memory.fill(gradients, 0, <usize>n << 2)
}

/** Rows of a matrix whose gradients fit into the first-level cache together. */
const blockRows: i32 = 8

/**
 * Adam on a matrix [n×k] whose gradient is a sum of terms aᵀ·b, with a [m×n] and b [m×width], each added to the columns from
 * `column` on. The gradient is as large as the weights and an update is bound by memory traffic, so it is never written out.
 * `terms` lists m, a, lda, b, ldb, column, width for each term; `scratch` has room for `blockRows` rows.
 */
export function outerAdam(
  count: i32, terms: usize, n: i32, k: i32,
  parameters: usize, first: usize, second: usize, scratch: usize, constants: usize,
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
    // The rows of a block are contiguous, whichever column parts the terms cover, so one step covers them all.
    const o = <usize>j * row
    step(rows * k, parameters + o, scratch, first + o, second + o, constants)
  }
}

/** The largest magnitude in an m×k matrix; NaN if any entry is NaN. */
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

/** Whether all n values are finite: x·0 is 0 for a finite x, otherwise NaN. */
export function allFinite(n: i32, x: usize): bool {
  let s = f32x4.splat(0)
  for (let i: i32 = 0; i < n; i += 4)
    s = madd(loadLanes(x + (i << 2), n - i), f32x4.splat(0), s)
  return !v128.any_true(f32x4.ne(s, f32x4.splat(0)))
}
