// Operations on rows given by index lists (int32): the ragged part of the network, where graphs differ in shape.
import { exp } from './functions'
import { addLanes, loadLanes, madd, storeLanes, sumLanes } from './lanes'

// @ts-ignore: decorator
@inline
function rowAt(base: usize, index: usize, position: i32, row: usize): usize {
  return base + <usize>i32.load(index + (position << 2)) * row
}

// @ts-ignore: decorator
@inline
function dot(h: i32, a: usize, b: usize): f32 {
  let s = f32x4.splat(0)
  for (let c: i32 = 0; c < h; c += 4) {
    s = madd(loadLanes(a + (c << 2), h - c), loadLanes(b + (c << 2), h - c), s)
  }
  return sumLanes(s)
}

// @ts-ignore: decorator
@inline
function addScaled(h: i32, scale: f32, x: usize, out: usize): void {
  const s = f32x4.splat(scale)
  for (let c: i32 = 0; c < h; c += 4) {
    addLanes(out + (c << 2), f32x4.mul(s, loadLanes(x + (c << 2), h - c)), h - c)
  }
}

/** out[p] += source[index[p]] */
export function gatherAdd(m: i32, h: i32, source: usize, index: usize, out: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, out += row) addScaled(h, 1, rowAt(source, index, p, row), out)
}

/** out[index[p]] += source[p] */
export function scatterAdd(m: i32, h: i32, source: usize, index: usize, out: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, source += row) addScaled(h, 1, source, rowAt(out, index, p, row))
}

/** out[p] = mean of source[members[q]] for q in offsets[p] … offsets[p+1]; zero if there are none. */
export function meanRows(m: i32, h: i32, source: usize, offsets: usize, members: usize, out: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, out += row) {
    const from = i32.load(offsets + (p << 2))
    const to = i32.load(offsets + (p << 2) + 4)
    memory.fill(out, 0, row)
    for (let q = from; q < to; q++) addScaled(h, <f32>1 / <f32>(to - from), rowAt(source, members, q, row), out)
  }
}

export function meanRowsGradient(m: i32, h: i32, dout: usize, offsets: usize, members: usize, dsource: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, dout += row) {
    const from = i32.load(offsets + (p << 2))
    const to = i32.load(offsets + (p << 2) + 4)
    for (let q = from; q < to; q++) addScaled(h, <f32>1 / <f32>(to - from), dout, rowAt(dsource, members, q, row))
  }
}

/** out[p] = a[ia[p]] ⊙ b[ib[p]] */
export function multiplyRows(m: i32, h: i32, a: usize, ia: usize, b: usize, ib: usize, out: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, out += row) {
    const u = rowAt(a, ia, p, row)
    const v = rowAt(b, ib, p, row)
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      storeLanes(out + o, f32x4.mul(loadLanes(u + o, h - c), loadLanes(v + o, h - c)), h - c)
    }
  }
}

export function multiplyRowsGradient(
  m: i32, h: i32, a: usize, ia: usize, b: usize, ib: usize, dout: usize, da: usize, db: usize,
): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, dout += row) {
    const u = rowAt(a, ia, p, row)
    const v = rowAt(b, ib, p, row)
    const du = rowAt(da, ia, p, row)
    const dv = rowAt(db, ib, p, row)
    for (let c: i32 = 0; c < h; c += 4) {
      const o: usize = c << 2
      const count = h - c
      const g = loadLanes(dout + o, count)
      addLanes(du + o, f32x4.mul(g, loadLanes(v + o, count)), count)
      addLanes(dv + o, f32x4.mul(g, loadLanes(u + o, count)), count)
    }
  }
}

/** out[p] += a[ia[p]] · b[ib[p]] */
export function dotRows(m: i32, h: i32, a: usize, ia: usize, b: usize, ib: usize, out: usize): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, out += 4) {
    f32.store(out, f32.load(out) + dot(h, rowAt(a, ia, p, row), rowAt(b, ib, p, row)))
  }
}

export function dotRowsGradient(
  m: i32, h: i32, a: usize, ia: usize, b: usize, ib: usize, dout: usize, da: usize, db: usize,
): void {
  const row: usize = h << 2
  for (let p: i32 = 0; p < m; p++, dout += 4) {
    const g = f32.load(dout)
    addScaled(h, g, rowAt(b, ib, p, row), rowAt(da, ia, p, row))
    addScaled(h, g, rowAt(a, ia, p, row), rowAt(db, ib, p, row))
  }
}

/**
 * Task-conditioned pooling: out[d] = Σ softmax(scale · h_i·key_d) h_i over the units of d, which are
 * h[members[offsets[d] … offsets[d+1]]]. Rows of decisions without units stay unchanged. `weights` stores the softmax.
 */
export function attentionPool(
  decisions: i32, h: i32, states: usize, offsets: usize, members: usize,
  keys: usize, keyIndex: usize, scale: f32, weights: usize, out: usize,
): void {
  const row: usize = h << 2
  for (let d: i32 = 0; d < decisions; d++, out += row) {
    const from = i32.load(offsets + (d << 2))
    const to = i32.load(offsets + (d << 2) + 4)
    if (from == to) continue
    const key = rowAt(keys, keyIndex, d, row)
    let largest: f32 = -Infinity
    for (let q = from; q < to; q++) {
      const score = scale * dot(h, rowAt(states, members, q, row), key)
      f32.store(weights + (q << 2), score)
      largest = max(largest, score)
    }
    let total: f32 = 0
    for (let q = from; q < to; q++) {
      const w = f32x4.extract_lane(exp(f32x4.splat(f32.load(weights + (q << 2)) - largest)), 0)
      f32.store(weights + (q << 2), w)
      total += w
    }
    memory.fill(out, 0, row)
    for (let q = from; q < to; q++) {
      const w = f32.load(weights + (q << 2)) / total
      f32.store(weights + (q << 2), w)
      addScaled(h, w, rowAt(states, members, q, row), out)
    }
  }
}

export function attentionPoolGradient(
  decisions: i32, h: i32, states: usize, offsets: usize, members: usize,
  keys: usize, keyIndex: usize, scale: f32, weights: usize, dout: usize, dstates: usize, dkeys: usize,
): void {
  const row: usize = h << 2
  for (let d: i32 = 0; d < decisions; d++, dout += row) {
    const from = i32.load(offsets + (d << 2))
    const to = i32.load(offsets + (d << 2) + 4)
    const key = rowAt(keys, keyIndex, d, row)
    const dkey = rowAt(dkeys, keyIndex, d, row)
    let mean: f32 = 0
    for (let q = from; q < to; q++) {
      mean += f32.load(weights + (q << 2)) * dot(h, dout, rowAt(states, members, q, row))
    }
    for (let q = from; q < to; q++) {
      const w = f32.load(weights + (q << 2))
      const state = rowAt(states, members, q, row)
      const dstate = rowAt(dstates, members, q, row)
      const dscore = scale * w * (dot(h, dout, state) - mean)
      addScaled(h, w, dout, dstate)
      addScaled(h, dscore, key, dstate)
      addScaled(h, dscore, state, dkey)
    }
  }
}
