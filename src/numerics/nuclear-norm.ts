import type { Tape } from './tape.ts'
import type { Tensor } from './workspace.ts'

/** The sum of a small matrix's singular values, from the eigenvalues of XᵀX. */
export function nuclearNorm(tape: Tape, x: Tensor): Tensor {
  const { workspace } = tape
  const { rows, columns } = x
  const decompose = () => {
    const values = workspace.values(x)
    const gram = Array.from({ length: columns }, (_, i) =>
      Array.from({ length: columns }, (__, j) => {
        let sum = 0
        for (let row = 0; row < rows; row += 1) sum += values[row * columns + i]! * values[row * columns + j]!
        return sum
      }),
    )
    return symmetricEigen(gram)
  }
  return tape.operation(
    1,
    1,
    (result) => {
      result[0] = decompose().values.reduce((sum, value) => sum + Math.sqrt(Math.max(0, value)), 0)
    },
    ([given]) => {
      if (x.gradient === 0) return
      // X (XᵀX)^−½: the singular vectors without their values.
      const { values: eigenvalues, vectors } = decompose()
      const [values, own] = [workspace.values(x), workspace.gradients(x)]
      for (const [k, eigenvalue] of eigenvalues.entries()) {
        if (eigenvalue < 1e-10) continue
        for (let row = 0; row < rows; row += 1) {
          let along = 0
          for (let j = 0; j < columns; j += 1) along += values[row * columns + j]! * vectors[j]![k]!
          for (let j = 0; j < columns; j += 1)
            own[row * columns + j]! += (given! * along * vectors[j]![k]!) / Math.sqrt(eigenvalue)
        }
      }
    },
  )
}

/** Eigenvalues and, in columns, eigenvectors of a symmetric matrix, by Jacobi's rotations. */
export function symmetricEigen(matrix: readonly (readonly number[])[]): {
  values: number[]
  vectors: number[][]
} {
  const n = matrix.length
  const a = matrix.map((row) => [...row])
  const vectors = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0) as number))
  for (let sweep = 0; sweep < 30; sweep += 1) {
    let off = 0
    for (let p = 0; p < n; p += 1)
      for (let q = p + 1; q < n; q += 1) {
        const entry = a[p]![q]!
        off += entry * entry
        if (Math.abs(entry) < 1e-15) continue
        const theta = (a[q]![q]! - a[p]![p]!) / (2 * entry)
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
        const cosine = 1 / Math.sqrt(t * t + 1)
        const sine = t * cosine
        for (let k = 0; k < n; k += 1) {
          const [x, y] = [a[k]![p]!, a[k]![q]!]
          a[k]![p] = cosine * x - sine * y
          a[k]![q] = sine * x + cosine * y
        }
        for (let k = 0; k < n; k += 1) {
          const [x, y] = [a[p]![k]!, a[q]![k]!]
          a[p]![k] = cosine * x - sine * y
          a[q]![k] = sine * x + cosine * y
          const [v, w] = [vectors[k]![p]!, vectors[k]![q]!]
          vectors[k]![p] = cosine * v - sine * w
          vectors[k]![q] = sine * v + cosine * w
        }
      }
    if (off < 1e-24) break
  }
  return { values: a.map((row, i) => row[i]!), vectors }
}
