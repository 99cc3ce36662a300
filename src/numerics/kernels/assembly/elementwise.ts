import { erf, exp, sigmoid, tanh } from './functions'
import { addLanes, loadLanes, madd, storeLanes, sumLanes } from './lanes'

/** y = GELU(x), the exact one. If `slope` ≠ 0, stores the derivative there for the backward pass. */
export function gelu(n: i32, x: usize, y: usize, slope: usize): void {
  const half = f32x4.splat(0.5)
  for (let i: i32 = 0; i < n; i += 4) {
    const o: usize = i << 2
    const count = n - i
    const v = loadLanes(x + o, count)
    const cdf = madd(half, erf(f32x4.mul(v, f32x4.splat(0.70710678118654752))), half)
    storeLanes(y + o, f32x4.mul(v, cdf), count)
    if (slope) {
      const square = f32x4.mul(v, v)
      const density = f32x4.mul(exp(f32x4.mul(square, f32x4.splat(-0.5))), f32x4.splat(0.39894228040143268))
      // Beyond 6.5 it is too small to change the slope.
      const near = v128.and(density, f32x4.lt(square, f32x4.splat(42.25)))
      storeLanes(slope + o, madd(v, near, cdf), count)
    }
  }
}

/** out += a ⊙ b */
export function multiplyAdd(n: i32, a: usize, b: usize, out: usize): void {
  for (let i: i32 = 0; i < n; i += 4) {
    const o: usize = i << 2
    const count = n - i
    addLanes(out + o, f32x4.mul(loadLanes(a + o, count), loadLanes(b + o, count)), count)
  }
}

/**
 * x minus its row's mean. The mean is given in two parts: the mean of nearly equal values has more digits than a float, and
 * the reciprocal deviation would magnify the rounding error up to 316 times.
 */
// @ts-ignore: decorator
@inline
function centred(x: v128, mean: f32, rest: f32): v128 {
  return f32x4.sub(f32x4.sub(x, f32x4.splat(mean)), f32x4.splat(rest))
}

/**
 * Rows of LayerNorm(x)·weight + bias with eps 1e-5. `stats` receives the two parts of the mean and the reciprocal
 * deviation per row.
 */
export function layerNorm(m: i32, h: i32, x: usize, weight: usize, bias: usize, y: usize, stats: usize): void {
  const row: usize = h << 2
  const h4 = h & ~3
  for (let i: i32 = 0; i < m; i++, x += row, y += row, stats += 12) {
    let s = f32x4.splat(0)
    for (let c: i32 = 0; c < h; c += 4) s = f32x4.add(s, loadLanes(x + (c << 2), h - c))
    const mean = sumLanes(s) / <f32>h
    s = f32x4.splat(0)
    for (let c: i32 = 0; c < h4; c += 4) s = f32x4.add(s, centred(v128.load(x + (c << 2)), mean, 0))
    let rest = sumLanes(s)
    for (let c: i32 = h4; c < h; c++) rest += f32.load(x + (c << 2)) - mean
    rest /= <f32>h
    let q = f32x4.splat(0)
    for (let c: i32 = 0; c < h4; c += 4) {
      const d = centred(v128.load(x + (c << 2)), mean, rest)
      q = madd(d, d, q)
    }
    let square = sumLanes(q)
    for (let c: i32 = h4; c < h; c++) {
      const d = f32.load(x + (c << 2)) - mean - rest
      square += d * d
    }
    const reciprocal: f32 = 1.0 / sqrt<f32>(square / <f32>h + 1e-5)
    f32.store(stats, mean)
    f32.store(stats, rest, 4)
    f32.store(stats, reciprocal, 8)
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const normal = f32x4.mul(centred(loadLanes(x + o, count), mean, rest), f32x4.splat(reciprocal))
      storeLanes(y + o, madd(normal, loadLanes(weight + o, count), loadLanes(bias + o, count)), count)
    }
  }
}

export function layerNormGradient(
  m: i32, h: i32, x: usize, weight: usize, stats: usize, dy: usize, dx: usize, dweight: usize, dbias: usize,
): void {
  const row: usize = h << 2
  for (let i: i32 = 0; i < m; i++, x += row, dy += row, dx += row, stats += 12) {
    const mean = f32.load(stats)
    const rest = f32.load(stats, 4)
    const reciprocal = f32x4.splat(f32.load(stats, 8))
    let s1 = f32x4.splat(0)
    let s2 = f32x4.splat(0)
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const g = loadLanes(dy + o, count)
      const normal = f32x4.mul(centred(loadLanes(x + o, count), mean, rest), reciprocal)
      const d = f32x4.mul(g, loadLanes(weight + o, count))
      // Loads beyond the row's end give zero, so d is zero there.
      s1 = f32x4.add(s1, d)
      s2 = madd(d, normal, s2)
      addLanes(dweight + o, f32x4.mul(g, normal), count)
      addLanes(dbias + o, g, count)
    }
    const a = f32x4.splat(sumLanes(s1) / <f32>h)
    const b = f32x4.splat(sumLanes(s2) / <f32>h)
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const normal = f32x4.mul(centred(loadLanes(x + o, count), mean, rest), reciprocal)
      const d = f32x4.mul(loadLanes(dy + o, count), loadLanes(weight + o, count))
      addLanes(dx + o, f32x4.mul(reciprocal, f32x4.sub(f32x4.sub(d, a), f32x4.mul(normal, b))), count)
    }
  }
}

/**
 * The gates of a GRUCell, order r, z, n: `gi` and `gh` [m×3h] are W_ih·v + b_ih and W_hh·u + b_hh. `previous` = 0 means a
 * zero state. `gates` [m×3h] stores the activated gates for the backward pass.
 */
export function gruGates(m: i32, h: i32, gi: usize, gh: usize, previous: usize, u: usize, gates: usize): void {
  const row: usize = h << 2
  const one = f32x4.splat(1)
  for (let i: i32 = 0; i < m; i++, gi += 3 * row, gh += 3 * row, gates += 3 * row, u += row) {
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const r = sigmoid(f32x4.add(loadLanes(gi + o, count), loadLanes(gh + o, count)))
      const z = sigmoid(f32x4.add(loadLanes(gi + row + o, count), loadLanes(gh + row + o, count)))
      const n = tanh(madd(r, loadLanes(gh + 2 * row + o, count), loadLanes(gi + 2 * row + o, count)))
      let next = f32x4.mul(f32x4.sub(one, z), n)
      if (previous) next = madd(z, loadLanes(previous + o, count), next)
      storeLanes(u + o, next, count)
      storeLanes(gates + o, r, count)
      storeLanes(gates + row + o, z, count)
      storeLanes(gates + 2 * row + o, n, count)
    }
    if (previous) previous += row
  }
}

export function gruGatesGradient(
  m: i32, h: i32, gh: usize, previous: usize, gates: usize, du: usize, dgi: usize, dgh: usize, dprevious: usize,
): void {
  const row: usize = h << 2
  const one = f32x4.splat(1)
  for (let i: i32 = 0; i < m; i++) {
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const r = loadLanes(gates + o, count)
      const z = loadLanes(gates + row + o, count)
      const n = loadLanes(gates + 2 * row + o, count)
      const g = loadLanes(du + o, count)
      const before = previous ? loadLanes(previous + o, count) : f32x4.splat(0)
      const dz = f32x4.mul(f32x4.mul(g, f32x4.sub(before, n)), f32x4.mul(z, f32x4.sub(one, z)))
      const dn = f32x4.mul(f32x4.mul(g, f32x4.sub(one, z)), f32x4.sub(one, f32x4.mul(n, n)))
      const dr = f32x4.mul(f32x4.mul(dn, loadLanes(gh + 2 * row + o, count)), f32x4.mul(r, f32x4.sub(one, r)))
      addLanes(dgi + o, dr, count)
      addLanes(dgi + row + o, dz, count)
      addLanes(dgi + 2 * row + o, dn, count)
      addLanes(dgh + o, dr, count)
      addLanes(dgh + row + o, dz, count)
      addLanes(dgh + 2 * row + o, f32x4.mul(dn, r), count)
      if (previous) addLanes(dprevious + o, f32x4.mul(g, z), count)
    }
    gh += 3 * row
    gates += 3 * row
    dgi += 3 * row
    dgh += 3 * row
    du += row
    if (previous) {
      previous += row
      dprevious += row
    }
  }
}
