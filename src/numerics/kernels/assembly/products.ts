// Matrix products over row-major float32 matrices with a stride (ld, in elements) between rows.
//
// Every entry of `linear` is summed in one fixed order (four lanes along k, then the lanes, then the tail), whatever
// block computes it. So a row's result does not depend on how many other rows are in the batch.
import { madd, maddOne, sumLanes } from './lanes'

/** y[m×n] = x[m×k] · w[n×k]ᵀ, or += when `accumulate`. */
export function linear(
  m: i32, n: i32, k: i32, x: usize, ldx: i32, w: usize, ldw: i32, y: usize, ldy: i32, accumulate: bool,
): void {
  const sx: usize = ldx << 2
  const sw: usize = ldw << 2
  const sy: usize = ldy << 2
  // In a part of a concatenated weight, rows are far apart and the processor does not prefetch them. The first block
  // therefore loads eight at once to overlap their cache misses; later blocks find them in the cache.
  let rows: i32 = ldw > k ? 1 : 4
  for (; m > 0; m -= rows, x += rows * sx, y += rows * sy, rows = 4) {
    if (m < rows) rows = m > 1 ? 2 : 1
    let j: i32 = 0
    if (rows == 4) {
      for (; j + 2 <= n; j += 2) dots4x2(k, x, sx, w + j * sw, sw, y + (j << 2), sy, 4, accumulate)
    } else if (rows == 2) {
      for (; j + 4 <= n; j += 4) dots4x2(k, w + j * sw, sw, x, sx, y + (j << 2), 4, sy, accumulate)
    } else {
      for (; j + 8 <= n; j += 8) dots8(k, x, w + j * sw, sw, y + (j << 2), accumulate)
    }
    for (; j < n; j++) {
      for (let r: i32 = 0; r < rows; r++) dot(k, x + r * sx, w + j * sw, y + r * sy + (j << 2), accumulate)
    }
  }
}

// @ts-ignore: decorator
@inline
function store(y: usize, lanes: v128, k: i32, x: usize, w: usize, accumulate: bool): void {
  let value = sumLanes(lanes)
  for (let p: usize = (k & ~3) << 2; p < <usize>(k << 2); p += 4) value += f32.load(x + p) * f32.load(w + p)
  f32.store(y, accumulate ? f32.load(y) + value : value)
}

/** The products of four rows of a with two of b. Results are `ya` bytes apart along a, and `yb` along b. */
// @ts-ignore: decorator
@inline
function dots4x2(k: i32, a: usize, sa: usize, b: usize, sb: usize, y: usize, ya: usize, yb: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  const a1 = a + sa
  const a2 = a1 + sa
  const a3 = a2 + sa
  const b1 = b + sb
  let s00 = f32x4.splat(0), s01 = f32x4.splat(0), s10 = f32x4.splat(0), s11 = f32x4.splat(0)
  let s20 = f32x4.splat(0), s21 = f32x4.splat(0), s30 = f32x4.splat(0), s31 = f32x4.splat(0)
  for (let p: usize = 0; p < k4; p += 16) {
    const u = v128.load(b + p)
    const v = v128.load(b1 + p)
    let t = v128.load(a + p)
    s00 = madd(t, u, s00)
    s01 = madd(t, v, s01)
    t = v128.load(a1 + p)
    s10 = madd(t, u, s10)
    s11 = madd(t, v, s11)
    t = v128.load(a2 + p)
    s20 = madd(t, u, s20)
    s21 = madd(t, v, s21)
    t = v128.load(a3 + p)
    s30 = madd(t, u, s30)
    s31 = madd(t, v, s31)
  }
  store(y, s00, k, a, b, accumulate)
  store(y + yb, s01, k, a, b1, accumulate)
  store(y + ya, s10, k, a1, b, accumulate)
  store(y + ya + yb, s11, k, a1, b1, accumulate)
  store(y + 2 * ya, s20, k, a2, b, accumulate)
  store(y + 2 * ya + yb, s21, k, a2, b1, accumulate)
  store(y + 3 * ya, s30, k, a3, b, accumulate)
  store(y + 3 * ya + yb, s31, k, a3, b1, accumulate)
}

/** The products of one row of x with eight of w. */
// @ts-ignore: decorator
@inline
function dots8(k: i32, x: usize, w: usize, sw: usize, y: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  const w1 = w + sw
  const w2 = w1 + sw
  const w3 = w2 + sw
  const w4 = w3 + sw
  const w5 = w4 + sw
  const w6 = w5 + sw
  const w7 = w6 + sw
  let s0 = f32x4.splat(0), s1 = f32x4.splat(0), s2 = f32x4.splat(0), s3 = f32x4.splat(0)
  let s4 = f32x4.splat(0), s5 = f32x4.splat(0), s6 = f32x4.splat(0), s7 = f32x4.splat(0)
  for (let p: usize = 0; p < k4; p += 16) {
    const v = v128.load(x + p)
    s0 = madd(v, v128.load(w + p), s0)
    s1 = madd(v, v128.load(w1 + p), s1)
    s2 = madd(v, v128.load(w2 + p), s2)
    s3 = madd(v, v128.load(w3 + p), s3)
    s4 = madd(v, v128.load(w4 + p), s4)
    s5 = madd(v, v128.load(w5 + p), s5)
    s6 = madd(v, v128.load(w6 + p), s6)
    s7 = madd(v, v128.load(w7 + p), s7)
  }
  store(y, s0, k, x, w, accumulate)
  store(y + 4, s1, k, x, w1, accumulate)
  store(y + 8, s2, k, x, w2, accumulate)
  store(y + 12, s3, k, x, w3, accumulate)
  store(y + 16, s4, k, x, w4, accumulate)
  store(y + 20, s5, k, x, w5, accumulate)
  store(y + 24, s6, k, x, w6, accumulate)
  store(y + 28, s7, k, x, w7, accumulate)
}

function dot(k: i32, x: usize, w: usize, y: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  let s = f32x4.splat(0)
  for (let p: usize = 0; p < k4; p += 16) s = madd(v128.load(x + p), v128.load(w + p), s)
  store(y, s, k, x, w, accumulate)
}

/** y[m×k] += x[m×n] · w[n×k]. Also the gradient of `linear` with respect to its input. */
export function product(
  m: i32, n: i32, k: i32, x: usize, ldx: i32, w: usize, ldw: i32, y: usize, ldy: i32,
): void {
  const sx: usize = ldx << 2
  const sw: usize = ldw << 2
  const sy: usize = ldy << 2
  if (m <= 8) return productFew(m, n, k, x, sx, w, sw, y, sy)
  // Many rows: a panel of 16 columns of w, one cache line per row, stays in the cache while all rows of x use it.
  let c: i32 = 0
  for (; c + 16 <= k; c += 16) {
    const o: usize = c << 2
    let i: i32 = 0
    for (; i + 2 <= m; i += 2) {
      panel(true, n, x + i * sx, sx, 4, w + o, sw, y + i * sy + o, y + (i + 1) * sy + o)
    }
    if (i < m) panel(false, n, x + i * sx, 0, 4, w + o, sw, y + i * sy + o, 0)
  }
  for (; c < k; c++) {
    for (let i: i32 = 0; i < m; i++) column(n, x + i * sx, 4, w + (c << 2), sw, y + i * sy + (c << 2))
  }
}

/** Few rows: y stays in the cache, and w is read once, four rows at a time. */
function productFew(m: i32, n: i32, k: i32, x: usize, sx: usize, w: usize, sw: usize, y: usize, sy: usize): void {
  const k8: usize = (k & ~7) << 2
  const ke: usize = k << 2
  let j: i32 = 0
  for (; j + 4 <= n; j += 4) {
    const w0 = w + j * sw
    const w1 = w0 + sw
    const w2 = w1 + sw
    const w3 = w2 + sw
    touch(min(4, n - j - 4), k, w3 + sw, sw)
    for (let i: i32 = 0; i < m; i++) {
      const xi = x + i * sx + (j << 2)
      const yi = y + i * sy
      const s0 = v128.load32_splat(xi), s1 = v128.load32_splat(xi, 4)
      const s2 = v128.load32_splat(xi, 8), s3 = v128.load32_splat(xi, 12)
      let p: usize = 0
      for (; p < k8; p += 32) {
        let a = v128.load(yi + p)
        let b = v128.load(yi + p, 16)
        a = madd(s0, v128.load(w0 + p), a)
        b = madd(s0, v128.load(w0 + p, 16), b)
        a = madd(s1, v128.load(w1 + p), a)
        b = madd(s1, v128.load(w1 + p, 16), b)
        a = madd(s2, v128.load(w2 + p), a)
        b = madd(s2, v128.load(w2 + p, 16), b)
        a = madd(s3, v128.load(w3 + p), a)
        b = madd(s3, v128.load(w3 + p, 16), b)
        v128.store(yi + p, a)
        v128.store(yi + p, b, 16)
      }
      for (; p < ke; p += 4) column(4, xi, 4, w0 + p, sw, yi + p)
    }
  }
  for (; j < n; j++) {
    for (let i: i32 = 0; i < m; i++) {
      const xi = x + i * sx + (j << 2)
      const yi = y + i * sy
      const wj = w + j * sw
      const s = v128.load32_splat(xi)
      let p: usize = 0
      for (; p < k8; p += 16) v128.store(yi + p, madd(s, v128.load(wj + p), v128.load(yi + p)))
      for (; p < ke; p += 4) column(1, xi, 4, wj + p, sw, yi + p)
    }
  }
}

/** Rows of x that fit into the first-level cache while the gradient of the weights is streamed. */
const chunk: i32 = 32

/** w[n×k] += y[m×n]ᵀ · x[m×k]: the gradient of `linear` with respect to its weight. */
export function outer(
  m: i32, n: i32, k: i32, y: usize, ldy: i32, x: usize, ldx: i32, w: usize, ldw: i32,
): void {
  const sx: usize = ldx << 2
  const sw: usize = ldw << 2
  const sy: usize = ldy << 2
  for (let from: i32 = 0; from < m; from += chunk) {
    const count = min(m - from, chunk)
    const xf = x + from * sx
    const yf = y + from * sy
    // Along the rows of w, because the gradient is not in the cache: a strided walk would miss every time.
    let j: i32 = 0
    for (; j + 2 <= n; j += 2) {
      const wj = w + j * sw
      if (from == 0 && (j & 7) == 0) touch(min(8, n - j - 8), k, wj + 8 * sw, sw)
      outerRows(true, count, k, yf + (j << 2), sy, xf, sx, wj, sw)
    }
    if (j < n) outerRows(false, count, k, yf + (j << 2), sy, xf, sx, w + j * sw, sw)
  }
}

// @ts-ignore: decorator
@inline
function outerRows(two: bool, m: i32, k: i32, y: usize, sy: usize, x: usize, sx: usize, w: usize, sw: usize): void {
  const ke: usize = k << 2
  let o: usize = 0
  for (; o + 64 <= ke; o += 64) panel(two, m, y, 4, sy, x + o, sx, w + o, w + sw + o)
  for (; o < ke; o += 4) {
    column(m, y, sy, x + o, sx, w + o)
    if (two) column(m, y + 4, sy, x + o, sx, w + sw + o)
  }
}

/**
 * Adds Σᵢ fᵢ·vᵢ to 16 columns. The factors f are `step` bytes apart, the rows v `sv` bytes. With `two`, also computes a
 * second row of results at `next`, whose factors are `second` bytes after those of the first.
 */
// @ts-ignore: decorator
@inline
function panel(
  two: bool, count: i32, f: usize, second: usize, step: usize, v: usize, sv: usize, out: usize, next: usize,
): void {
  let a0 = v128.load(out), a1 = v128.load(out, 16), a2 = v128.load(out, 32), a3 = v128.load(out, 48)
  let b0 = a0, b1 = a1, b2 = a2, b3 = a3
  if (two) {
    b0 = v128.load(next), b1 = v128.load(next, 16), b2 = v128.load(next, 32), b3 = v128.load(next, 48)
  }
  for (const end = v + count * sv; v < end; f += step, v += sv) {
    const s = v128.load32_splat(f)
    const t = two ? v128.load32_splat(f + second) : s
    let u = v128.load(v)
    a0 = madd(s, u, a0)
    if (two) b0 = madd(t, u, b0)
    u = v128.load(v, 16)
    a1 = madd(s, u, a1)
    if (two) b1 = madd(t, u, b1)
    u = v128.load(v, 32)
    a2 = madd(s, u, a2)
    if (two) b2 = madd(t, u, b2)
    u = v128.load(v, 48)
    a3 = madd(s, u, a3)
    if (two) b3 = madd(t, u, b3)
  }
  store16(out, a0, a1, a2, a3)
  if (two) store16(next, b0, b1, b2, b3)
}

// @ts-ignore: decorator
@inline
function store16(out: usize, v0: v128, v1: v128, v2: v128, v3: v128): void {
  v128.store(out, v0)
  v128.store(out, v1, 16)
  v128.store(out, v2, 32)
  v128.store(out, v3, 48)
}

/** Like `panel`, for one column. */
// @ts-ignore: decorator
@inline
function column(count: i32, s: usize, step: usize, v: usize, sv: usize, out: usize): void {
  let a = f32.load(out)
  for (let i: i32 = 0; i < count; i++, s += step, v += sv) a = maddOne(f32.load(s), f32.load(v), a)
  f32.store(out, a)
}

/**
 * Prefetches rows, one load per cache line. The rows of a part of a concatenated weight are far apart, so the processor does
 * not prefetch them; here their cache misses overlap.
 */
// @ts-ignore: decorator
@inline
function touch(rows: i32, k: i32, w: usize, sw: usize): void {
  const bytes: usize = k << 2
  for (let j: i32 = 0; j < rows; j++, w += sw) {
    for (let p: usize = 0; p < bytes; p += 64) i32.load(w + p)
  }
}
