// Loads and stores of up to four floats as a vector, so that rows can have any length and nothing beyond them is touched.

// @ts-ignore: decorator
@inline
export function loadLanes(p: usize, count: i32): v128 {
  if (count >= 4) return v128.load(p)
  let v = v128.load32_zero(p)
  if (count > 1) v = v128.load32_lane(p + 4, v, 1)
  if (count > 2) v = v128.load32_lane(p + 8, v, 2)
  return v
}

// @ts-ignore: decorator
@inline
export function storeLanes(p: usize, v: v128, count: i32): void {
  if (count >= 4) {
    v128.store(p, v)
    return
  }
  v128.store32_lane(p, v, 0)
  if (count > 1) v128.store32_lane(p + 4, v, 1)
  if (count > 2) v128.store32_lane(p + 8, v, 2)
}

// @ts-ignore: decorator
@inline
export function addLanes(p: usize, v: v128, count: i32): void {
  storeLanes(p, f32x4.add(loadLanes(p, count), v), count)
}

// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
}

/** a·b + c, rounded once in the fused build and twice in the other. This is the only difference between the two. */
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c)
  return f32x4.add(f32x4.mul(a, b), c)
}

/** The same for one float, so that tail columns are rounded like the others. */
// @ts-ignore: decorator
@inline
export function maddOne(a: f32, b: f32, c: f32): f32 {
  return f32x4.extract_lane(madd(f32x4.splat(a), f32x4.splat(b), f32x4.splat(c)), 0)
}

/** Whether `madd` rounds once: (1 + 2⁻¹²)² minus its value as a float is 2⁻²⁴ if so, otherwise 0. */
export function fuses(x: f32): bool {
  const a = f32x4.splat(x)
  const rounded = f32x4.mul(a, a)
  return f32x4.extract_lane(madd(a, a, f32x4.neg(rounded)), 0) != 0
}
