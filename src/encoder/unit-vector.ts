/**
 * The vector scaled to length 1. A zero vector becomes the first axis, so that a text without any feature is well
 * defined and never NaN.
 */
export function unitVector(vector: ArrayLike<number>): Float32Array {
  let largest = 0
  for (let index = 0; index < vector.length; index += 1) {
    if (!Number.isFinite(vector[index]))
      throw new RangeError(`Entry ${index} of a semantic vector is ${vector[index]}; the encoder is broken.`)
    largest = Math.max(largest, Math.abs(vector[index]!))
  }
  // Plain loops, because `Float32Array.from` with a callback allocates a number object per entry.
  const unit = new Float32Array(vector.length)
  if (largest === 0) {
    unit[0] = 1
    return unit
  }
  // Scaled by the largest entry first, because squares of very small or large entries would overflow or underflow.
  let sum = 0
  for (let index = 0; index < vector.length; index += 1) sum += (vector[index]! / largest) ** 2
  const length = Math.sqrt(sum)
  for (let index = 0; index < vector.length; index += 1) unit[index] = vector[index]! / largest / length
  return unit
}

/** The unit vector of a weighted sum of vectors of one length. */
export function unitVectorOfSum(
  terms: readonly { readonly weight: number; readonly vector: ArrayLike<number> }[],
): Float32Array {
  const sum = new Float64Array(terms[0]!.vector.length)
  for (const { weight, vector } of terms) {
    for (let index = 0; index < sum.length; index += 1) sum[index]! += weight * vector[index]!
  }
  return unitVector(sum)
}
