// Elementary functions on four floats at once. Built from arithmetic alone, so results are the same on every platform.
import { madd } from './lanes'

/**
 * eˣ to about one unit in the last place: 2ⁿ·eʳ with |r| ≤ ln2/2, eʳ by its Taylor series of degree 7. Clamped at e^±60:
 * gates and weights computed from it are 0 or 1 there anyway, and products with it do not become subnormal, which would be
 * a hundred times slower.
 */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const clamped = f32x4.min(f32x4.max(x, f32x4.splat(-60.0)), f32x4.splat(60.0))
  const n = f32x4.nearest(f32x4.mul(clamped, f32x4.splat(1.44269504)))
  // ln2 in two parts, so that n·ln2 is subtracted without losing the low bits of r.
  let r = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)))
  r = madd(n, f32x4.splat(2.12194440e-4), r)
  let p = f32x4.splat(1.0 / 5040.0)
  p = madd(p, r, f32x4.splat(1.0 / 720.0))
  p = madd(p, r, f32x4.splat(1.0 / 120.0))
  p = madd(p, r, f32x4.splat(1.0 / 24.0))
  p = madd(p, r, f32x4.splat(1.0 / 6.0))
  p = madd(p, r, f32x4.splat(0.5))
  p = madd(p, r, f32x4.splat(1.0))
  p = madd(p, r, f32x4.splat(1.0))
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23)
  return f32x4.mul(p, power)
}

// @ts-ignore: decorator
@inline
export function sigmoid(x: v128): v128 {
  const one = f32x4.splat(1.0)
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))))
}

// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const s = sigmoid(f32x4.add(x, x))
  return f32x4.sub(f32x4.add(s, s), f32x4.splat(1.0))
}

/**
 * erf on [-3.95, 3.95] as x·P(x²)/Q(x²), beyond it ±1 (off by 2e-8). The coefficients are a minimax fit with a relative
 * error of 2e-8, below float32's own rounding.
 */
// @ts-ignore: decorator
@inline
export function erf(x: v128): v128 {
  const c = f32x4.min(f32x4.max(x, f32x4.splat(-3.95)), f32x4.splat(3.95))
  const t = f32x4.mul(c, c)
  let p = f32x4.splat(2.0258680872925384e-6)
  p = madd(p, t, f32x4.splat(0.00028466395243081303))
  p = madd(p, t, f32x4.splat(0.0038075660353708266))
  p = madd(p, t, f32x4.splat(0.05287356680336835))
  p = madd(p, t, f32x4.splat(0.19153792593417585))
  p = madd(p, t, f32x4.splat(1.128379143946636))
  let q = f32x4.splat(3.7830139786603986e-5)
  q = madd(q, t, f32x4.splat(0.0011705620693142596))
  q = madd(q, t, f32x4.splat(0.015053902407426581))
  q = madd(q, t, f32x4.splat(0.11455428698994853))
  q = madd(q, t, f32x4.splat(0.5030787461791113))
  q = madd(q, t, f32x4.splat(1.0))
  return f32x4.div(f32x4.mul(c, p), q)
}
