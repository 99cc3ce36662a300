// Matrix products over row-major float32 matrices with a stride (ld, in elements) between rows.
//
// Every entry of `linear` is summed in one fixed order (four lanes along k, then the lanes, then the tail), whatever
// block computes it. So a row's result does not depend on how many other rows are in the batch.
import { madd, maddOne, sumLanes as sum } from './lanes'

// @ts-ignore: decorator
@inline
function store(y: usize, value: f32, accumulate: bool): void {
  f32.store(y, accumulate ? f32.load(y) + value : value)
}

// @ts-ignore: decorator
@inline
function tail(value: f32, x: usize, w: usize, from: usize, to: usize): f32 {
  for (let p = from; p < to; p += 4) value += f32.load(x + p) * f32.load(w + p)
  return value
}

/** Rows of x that stay in the first-level cache while the weights' gradient passes over them. */
const chunk: i32 = 32

/**
 * Touches rows that are needed soon, one load per cache line. The parts of a concatenated weight lie far apart, so the
 * processor does not guess that they come next; these loads wait for memory together instead of one after the other.
 */
// @ts-ignore: decorator
@inline
function touch(rows: i32, k: i32, w: usize, sw: usize): void {
  const bytes: usize = k << 2
  for (let j: i32 = 0; j < rows; j++, w += sw) {
    for (let p: usize = 0; p < bytes; p += 64) i32.load(w + p)
  }
}

/** y[m×n] = x[m×k] · w[n×k]ᵀ, or += when `accumulate`. */
export function linear(
  m: i32, n: i32, k: i32, x: usize, ldx: i32, w: usize, ldw: i32, y: usize, ldy: i32, accumulate: bool,
): void {
  const sx: usize = ldx << 2
  const sw: usize = ldw << 2
  const sy: usize = ldy << 2
  let i: i32 = 0
  // Part of a concatenated weight: its rows lie apart, and the processor does not guess where the next one is. The first
  // row's block asks for eight of them at once, which brings them from far sooner, and the other blocks find them near.
  if (ldw > k && m > 0) rows1(n, k, x + i++ * sx, w, sw, y, accumulate)
  for (; i + 4 <= m; i += 4) rows4(n, k, x + i * sx, sx, w, sw, y + i * sy, sy, accumulate)
  for (; i + 2 <= m; i += 2) rows2(n, k, x + i * sx, sx, w, sw, y + i * sy, sy, accumulate)
  if (i < m) rows1(n, k, x + i * sx, w, sw, y + i * sy, accumulate)
}

function rows4(n: i32, k: i32, x: usize, sx: usize, w: usize, sw: usize, y: usize, sy: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  const ke: usize = k << 2
  const x1 = x + sx
  const x2 = x1 + sx
  const x3 = x2 + sx
  let j: i32 = 0
  for (; j + 2 <= n; j += 2) {
    const w0 = w + j * sw
    const w1 = w0 + sw
    let a00 = f32x4.splat(0), a01 = f32x4.splat(0), a10 = f32x4.splat(0), a11 = f32x4.splat(0)
    let a20 = f32x4.splat(0), a21 = f32x4.splat(0), a30 = f32x4.splat(0), a31 = f32x4.splat(0)
    for (let p: usize = 0; p < k4; p += 16) {
      const b0 = v128.load(w0 + p)
      const b1 = v128.load(w1 + p)
      let v = v128.load(x + p)
      a00 = madd(v, b0, a00)
      a01 = madd(v, b1, a01)
      v = v128.load(x1 + p)
      a10 = madd(v, b0, a10)
      a11 = madd(v, b1, a11)
      v = v128.load(x2 + p)
      a20 = madd(v, b0, a20)
      a21 = madd(v, b1, a21)
      v = v128.load(x3 + p)
      a30 = madd(v, b0, a30)
      a31 = madd(v, b1, a31)
    }
    const o = y + (j << 2)
    store(o, tail(sum(a00), x, w0, k4, ke), accumulate)
    store(o + 4, tail(sum(a01), x, w1, k4, ke), accumulate)
    store(o + sy, tail(sum(a10), x1, w0, k4, ke), accumulate)
    store(o + sy + 4, tail(sum(a11), x1, w1, k4, ke), accumulate)
    store(o + 2 * sy, tail(sum(a20), x2, w0, k4, ke), accumulate)
    store(o + 2 * sy + 4, tail(sum(a21), x2, w1, k4, ke), accumulate)
    store(o + 3 * sy, tail(sum(a30), x3, w0, k4, ke), accumulate)
    store(o + 3 * sy + 4, tail(sum(a31), x3, w1, k4, ke), accumulate)
  }
  if (j < n) {
    for (let r: usize = 0; r < 4; r++) {
      store(y + r * sy + (j << 2), dot(x + r * sx, w + j * sw, k4, ke), accumulate)
    }
  }
}

function rows2(n: i32, k: i32, x: usize, sx: usize, w: usize, sw: usize, y: usize, sy: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  const ke: usize = k << 2
  const x1 = x + sx
  let j: i32 = 0
  for (; j + 4 <= n; j += 4) {
    const w0 = w + j * sw
    const w1 = w0 + sw
    const w2 = w1 + sw
    const w3 = w2 + sw
    let a00 = f32x4.splat(0), a01 = f32x4.splat(0), a02 = f32x4.splat(0), a03 = f32x4.splat(0)
    let a10 = f32x4.splat(0), a11 = f32x4.splat(0), a12 = f32x4.splat(0), a13 = f32x4.splat(0)
    for (let p: usize = 0; p < k4; p += 16) {
      const v0 = v128.load(x + p)
      const v1 = v128.load(x1 + p)
      let b = v128.load(w0 + p)
      a00 = madd(v0, b, a00)
      a10 = madd(v1, b, a10)
      b = v128.load(w1 + p)
      a01 = madd(v0, b, a01)
      a11 = madd(v1, b, a11)
      b = v128.load(w2 + p)
      a02 = madd(v0, b, a02)
      a12 = madd(v1, b, a12)
      b = v128.load(w3 + p)
      a03 = madd(v0, b, a03)
      a13 = madd(v1, b, a13)
    }
    const o = y + (j << 2)
    store(o, tail(sum(a00), x, w0, k4, ke), accumulate)
    store(o + 4, tail(sum(a01), x, w1, k4, ke), accumulate)
    store(o + 8, tail(sum(a02), x, w2, k4, ke), accumulate)
    store(o + 12, tail(sum(a03), x, w3, k4, ke), accumulate)
    store(o + sy, tail(sum(a10), x1, w0, k4, ke), accumulate)
    store(o + sy + 4, tail(sum(a11), x1, w1, k4, ke), accumulate)
    store(o + sy + 8, tail(sum(a12), x1, w2, k4, ke), accumulate)
    store(o + sy + 12, tail(sum(a13), x1, w3, k4, ke), accumulate)
  }
  for (; j < n; j++) {
    store(y + (j << 2), dot(x, w + j * sw, k4, ke), accumulate)
    store(y + sy + (j << 2), dot(x1, w + j * sw, k4, ke), accumulate)
  }
}

function rows1(n: i32, k: i32, x: usize, w: usize, sw: usize, y: usize, accumulate: bool): void {
  const k4: usize = (k & ~3) << 2
  const ke: usize = k << 2
  let j: i32 = 0
  for (; j + 8 <= n; j += 8) {
    const w0 = w + j * sw
    const w1 = w0 + sw
    const w2 = w1 + sw
    const w3 = w2 + sw
    const w4 = w3 + sw
    const w5 = w4 + sw
    const w6 = w5 + sw
    const w7 = w6 + sw
    let a0 = f32x4.splat(0), a1 = f32x4.splat(0), a2 = f32x4.splat(0), a3 = f32x4.splat(0)
    let a4 = f32x4.splat(0), a5 = f32x4.splat(0), a6 = f32x4.splat(0), a7 = f32x4.splat(0)
    for (let p: usize = 0; p < k4; p += 16) {
      const v = v128.load(x + p)
      a0 = madd(v, v128.load(w0 + p), a0)
      a1 = madd(v, v128.load(w1 + p), a1)
      a2 = madd(v, v128.load(w2 + p), a2)
      a3 = madd(v, v128.load(w3 + p), a3)
      a4 = madd(v, v128.load(w4 + p), a4)
      a5 = madd(v, v128.load(w5 + p), a5)
      a6 = madd(v, v128.load(w6 + p), a6)
      a7 = madd(v, v128.load(w7 + p), a7)
    }
    const o = y + (j << 2)
    store(o, tail(sum(a0), x, w0, k4, ke), accumulate)
    store(o + 4, tail(sum(a1), x, w1, k4, ke), accumulate)
    store(o + 8, tail(sum(a2), x, w2, k4, ke), accumulate)
    store(o + 12, tail(sum(a3), x, w3, k4, ke), accumulate)
    store(o + 16, tail(sum(a4), x, w4, k4, ke), accumulate)
    store(o + 20, tail(sum(a5), x, w5, k4, ke), accumulate)
    store(o + 24, tail(sum(a6), x, w6, k4, ke), accumulate)
    store(o + 28, tail(sum(a7), x, w7, k4, ke), accumulate)
  }
  for (; j < n; j++) store(y + (j << 2), dot(x, w + j * sw, k4, ke), accumulate)
}

function dot(x: usize, w: usize, k4: usize, ke: usize): f32 {
  let a = f32x4.splat(0)
  for (let p: usize = 0; p < k4; p += 16) a = madd(v128.load(x + p), v128.load(w + p), a)
  return tail(sum(a), x, w, k4, ke)
}

/** y[m×k] += x[m×n] · w[n×k]. Also the gradient of `linear` with respect to its input. */
export function product(
  m: i32, n: i32, k: i32, x: usize, ldx: i32, w: usize, ldw: i32, y: usize, ldy: i32,
): void {
  const sx: usize = ldx << 2
  const sw: usize = ldw << 2
  const sy: usize = ldy << 2
  if (m <= 8) productFew(m, n, k, x, sx, w, sw, y, sy)
  else productMany(m, n, k, x, sx, w, sw, y, sy)
}

/** Few rows: y stays near and w passes by once, four of its rows at a time. */
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
      for (; p < ke; p += 4) {
        let a = maddOne(f32.load(xi), f32.load(w0 + p), f32.load(yi + p))
        a = maddOne(f32.load(xi, 4), f32.load(w1 + p), a)
        a = maddOne(f32.load(xi, 8), f32.load(w2 + p), a)
        f32.store(yi + p, maddOne(f32.load(xi, 12), f32.load(w3 + p), a))
      }
    }
  }
  for (; j < n; j++) {
    for (let i: i32 = 0; i < m; i++) {
      const scale = f32.load(x + i * sx + (j << 2))
      const s = f32x4.splat(scale)
      const yi = y + i * sy
      const wj = w + j * sw
      let p: usize = 0
      for (; p < (k8 & ~15); p += 16) v128.store(yi + p, madd(s, v128.load(wj + p), v128.load(yi + p)))
      for (; p < ke; p += 4) f32.store(yi + p, maddOne(scale, f32.load(wj + p), f32.load(yi + p)))
    }
  }
}

/** Many rows: a panel of 16 columns of w, one cache line per row, stays near while all rows of x pass over it. */
function productMany(m: i32, n: i32, k: i32, x: usize, sx: usize, w: usize, sw: usize, y: usize, sy: usize): void {
  let c: i32 = 0
  for (; c + 16 <= k; c += 16) {
    const wc = w + (c << 2)
    let i: i32 = 0
    for (; i + 2 <= m; i += 2) {
      const x0 = x + i * sx
      const x1 = x0 + sx
      const y0 = y + i * sy + (c << 2)
      const y1 = y0 + sy
      let a0 = v128.load(y0), a1 = v128.load(y0, 16), a2 = v128.load(y0, 32), a3 = v128.load(y0, 48)
      let b0 = v128.load(y1), b1 = v128.load(y1, 16), b2 = v128.load(y1, 32), b3 = v128.load(y1, 48)
      let q = wc
      for (let j: usize = 0; j < (<usize>n << 2); j += 4, q += sw) {
        const s = v128.load32_splat(x0 + j)
        const t = v128.load32_splat(x1 + j)
        let v = v128.load(q)
        a0 = madd(s, v, a0)
        b0 = madd(t, v, b0)
        v = v128.load(q, 16)
        a1 = madd(s, v, a1)
        b1 = madd(t, v, b1)
        v = v128.load(q, 32)
        a2 = madd(s, v, a2)
        b2 = madd(t, v, b2)
        v = v128.load(q, 48)
        a3 = madd(s, v, a3)
        b3 = madd(t, v, b3)
      }
      v128.store(y0, a0)
      v128.store(y0, a1, 16)
      v128.store(y0, a2, 32)
      v128.store(y0, a3, 48)
      v128.store(y1, b0)
      v128.store(y1, b1, 16)
      v128.store(y1, b2, 32)
      v128.store(y1, b3, 48)
    }
    if (i < m) {
      const x0 = x + i * sx
      const y0 = y + i * sy + (c << 2)
      let a0 = v128.load(y0), a1 = v128.load(y0, 16), a2 = v128.load(y0, 32), a3 = v128.load(y0, 48)
      let q = wc
      for (let j: usize = 0; j < (<usize>n << 2); j += 4, q += sw) {
        const s = v128.load32_splat(x0 + j)
        a0 = madd(s, v128.load(q), a0)
        a1 = madd(s, v128.load(q, 16), a1)
        a2 = madd(s, v128.load(q, 32), a2)
        a3 = madd(s, v128.load(q, 48), a3)
      }
      v128.store(y0, a0)
      v128.store(y0, a1, 16)
      v128.store(y0, a2, 32)
      v128.store(y0, a3, 48)
    }
  }
  for (; c < k; c++) {
    for (let i: i32 = 0; i < m; i++) {
      const o = y + i * sy + (c << 2)
      let a = f32.load(o)
      for (let j: i32 = 0; j < n; j++) a = maddOne(f32.load(x + i * sx + (j << 2)), f32.load(w + j * sw + (c << 2)), a)
      f32.store(o, a)
    }
  }
}

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
    // Along the rows of w, because the gradient is what comes from far: a strided walk over it would miss every time.
    let j: i32 = 0
    for (; j + 2 <= n; j += 2) {
      const wj = w + j * sw
      if (from == 0 && (j & 7) == 0) touch(min(8, n - j - 8), k, wj + 8 * sw, sw)
      outer2(count, k, yf + (j << 2), sy, xf, sx, wj, sw)
    }
    if (j < n) outer1(count, k, yf + (j << 2), sy, xf, sx, w + j * sw)
  }
}

function outer2(m: i32, k: i32, y: usize, sy: usize, x: usize, sx: usize, w: usize, sw: usize): void {
  let c: i32 = 0
  for (; c + 16 <= k; c += 16) {
    const w0 = w + (c << 2)
    const w1 = w0 + sw
    let a0 = v128.load(w0), a1 = v128.load(w0, 16), a2 = v128.load(w0, 32), a3 = v128.load(w0, 48)
    let b0 = v128.load(w1), b1 = v128.load(w1, 16), b2 = v128.load(w1, 32), b3 = v128.load(w1, 48)
    let p = y
    let q = x + (c << 2)
    for (let i: i32 = 0; i < m; i++, p += sy, q += sx) {
      const s = v128.load32_splat(p)
      const t = v128.load32_splat(p + 4)
      let v = v128.load(q)
      a0 = madd(s, v, a0)
      b0 = madd(t, v, b0)
      v = v128.load(q, 16)
      a1 = madd(s, v, a1)
      b1 = madd(t, v, b1)
      v = v128.load(q, 32)
      a2 = madd(s, v, a2)
      b2 = madd(t, v, b2)
      v = v128.load(q, 48)
      a3 = madd(s, v, a3)
      b3 = madd(t, v, b3)
    }
    v128.store(w0, a0)
    v128.store(w0, a1, 16)
    v128.store(w0, a2, 32)
    v128.store(w0, a3, 48)
    v128.store(w1, b0)
    v128.store(w1, b1, 16)
    v128.store(w1, b2, 32)
    v128.store(w1, b3, 48)
  }
  if (c < k) {
    outerTail(m, c, k, y, sy, x, sx, w)
    outerTail(m, c, k, y + 4, sy, x, sx, w + sw)
  }
}

function outer1(m: i32, k: i32, y: usize, sy: usize, x: usize, sx: usize, w: usize): void {
  let c: i32 = 0
  for (; c + 16 <= k; c += 16) {
    const w0 = w + (c << 2)
    let a0 = v128.load(w0), a1 = v128.load(w0, 16), a2 = v128.load(w0, 32), a3 = v128.load(w0, 48)
    let p = y
    let q = x + (c << 2)
    for (let i: i32 = 0; i < m; i++, p += sy, q += sx) {
      const s = v128.load32_splat(p)
      a0 = madd(s, v128.load(q), a0)
      a1 = madd(s, v128.load(q, 16), a1)
      a2 = madd(s, v128.load(q, 32), a2)
      a3 = madd(s, v128.load(q, 48), a3)
    }
    v128.store(w0, a0)
    v128.store(w0, a1, 16)
    v128.store(w0, a2, 32)
    v128.store(w0, a3, 48)
  }
  if (c < k) outerTail(m, c, k, y, sy, x, sx, w)
}

function outerTail(m: i32, c: i32, k: i32, y: usize, sy: usize, x: usize, sx: usize, w: usize): void {
  for (; c < k; c++) {
    const o = w + (c << 2)
    let a = f32.load(o)
    for (let i: i32 = 0; i < m; i++) a = maddOne(f32.load(y + i * sy), f32.load(x + i * sx + (c << 2)), a)
    f32.store(o, a)
  }
}
