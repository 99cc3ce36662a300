import { digamma, logGamma } from './gamma.ts'
import type { Tape } from './tape.ts'
import type { Tensor } from './workspace.ts'

/** Operations of small networks without kernels. Tensors are contiguous; each operation adds to its operands' gradients. */
export class Operations {
  readonly tape: Tape

  constructor(tape: Tape) {
    this.tape = tape
  }

  sigmoid(x: Tensor): Tensor {
    return this.#entrywise(x, logistic, (_, y) => y * (1 - y))
  }

  relu(x: Tensor): Tensor {
    return this.#entrywise(
      x,
      (value) => Math.max(0, value),
      (value) => (value > 0 ? 1 : 0),
    )
  }

  exp(x: Tensor): Tensor {
    return this.#entrywise(x, Math.exp, (_, y) => y)
  }

  square(x: Tensor): Tensor {
    return this.#entrywise(
      x,
      (value) => value * value,
      (value) => 2 * value,
    )
  }

  /** factor · x + offset */
  affine(x: Tensor, factor: number, offset = 0): Tensor {
    return this.#entrywise(
      x,
      (value) => factor * value + offset,
      () => factor,
    )
  }

  /** ln Γ(x) */
  logGamma(x: Tensor): Tensor {
    return this.#entrywise(x, logGamma, digamma)
  }

  /** ln p or ln(1 − p) of p = σ(x), entry by entry as selected by `chosen`. Finite for every finite x. */
  bernoulliLogs(logits: Tensor, chosen: ArrayLike<number | boolean>): Tensor {
    const sign = (index: number) => (chosen[index] ? 1 : -1)
    return this.#entrywise(
      logits,
      (x, index) => Math.min(sign(index) * x, 0) - Math.log1p(Math.exp(-Math.abs(x))),
      (x, _, index) => sign(index) * logistic(-sign(index) * x),
    )
  }

  /** ln p or ln(1 − p) of probabilities, as selected by `chosen`; like PyTorch's, never below −100. */
  probabilityLogs(probabilities: Tensor, chosen: ArrayLike<number | boolean>): Tensor {
    const part = (p: number, index: number) => (chosen[index] ? p : 1 - p)
    return this.#entrywise(
      probabilities,
      (p, index) => Math.max(Math.log(part(p, index)), -100),
      (p, _, index) => (chosen[index] ? 1 : -1) / Math.max(part(p, index), 1e-12),
    )
  }

  /** a + b; a tensor of one entry is added to every entry of the other. */
  add(a: Tensor, b: Tensor): Tensor {
    return this.#combine(
      a,
      b,
      (x, y) => x + y,
      () => 1,
      () => 1,
    )
  }

  /** a ⊙ b; a tensor of one entry multiplies every entry of the other. */
  multiply(a: Tensor, b: Tensor): Tensor {
    return this.#combine(
      a,
      b,
      (x, y) => x * y,
      (_, y) => y,
      (x) => x,
    )
  }

  /** (1 − g) · a + g · b, row by row: each row has one g. */
  blendRows(gates: Tensor, a: Tensor, b: Tensor): Tensor {
    const { workspace } = this.tape
    const { columns } = a
    return this.tape.operation(
      a.rows,
      columns,
      (result) => {
        const [g, x, y] = [workspace.values(gates), workspace.values(a), workspace.values(b)]
        for (let row = 0; row < a.rows; row += 1)
          for (let at = row * columns; at < (row + 1) * columns; at += 1)
            result[at] = x[at]! + g[row]! * (y[at]! - x[at]!)
      },
      (gradient) => {
        const [g, x, y] = [workspace.values(gates), workspace.values(a), workspace.values(b)]
        const gradientOf = (one: Tensor) => (one.gradient === 0 ? undefined : workspace.gradients(one))
        const [dg, dx, dy] = [gradientOf(gates), gradientOf(a), gradientOf(b)]
        for (let row = 0; row < a.rows; row += 1) {
          let along = 0
          for (let at = row * columns; at < (row + 1) * columns; at += 1) {
            const given = gradient[at]!
            along += given * (y[at]! - x[at]!)
            if (dx) dx[at]! += (1 - g[row]!) * given
            if (dy) dy[at]! += g[row]! * given
          }
          if (dg) dg[row]! += along
        }
      },
    )
  }

  /** [a, b, …]: tensors of equal rows side by side. */
  beside(...parts: readonly [Tensor, ...Tensor[]]): Tensor {
    const { workspace } = this.tape
    const { rows } = parts[0]
    const columns = parts.reduce((sum, part) => sum + part.columns, 0)
    const each = (visit: (part: Tensor, row: number, at: number) => void) => {
      let left = 0
      for (const part of parts) {
        for (let row = 0; row < rows; row += 1) visit(part, row, row * columns + left)
        left += part.columns
      }
    }
    return this.tape.operation(
      rows,
      columns,
      (result) =>
        each((part, row, at) => {
          const start = row * part.columns
          result.set(workspace.values(part).subarray(start, start + part.columns), at)
        }),
      (gradient) =>
        each((part, row, at) => {
          if (part.gradient === 0) return
          const own = workspace.gradients(part)
          for (let column = 0; column < part.columns; column += 1)
            own[row * part.columns + column]! += gradient[at + column]!
        }),
    )
  }

  /** Copies of the rows with these numbers. */
  rowsAt(source: Tensor, rows: readonly number[]): Tensor {
    return this.tape.gather(source, this.tape.indices(rows), this.tape.zeros(rows.length, source.columns))
  }

  /** Row p is Σ_k weights[p][k] · source[k]; the weights are constants, such as a graph's edges. */
  mixRows(weights: readonly ArrayLike<number>[], source: Tensor): Tensor {
    const { workspace } = this.tape
    const { columns } = source
    const each = (visit: (weight: number, row: number, from: number) => void) => {
      for (const [row, list] of weights.entries())
        for (let k = 0; k < source.rows; k += 1) if (list[k]) visit(list[k]!, row * columns, k * columns)
    }
    return this.tape.operation(
      weights.length,
      columns,
      (result) => {
        result.fill(0)
        const values = workspace.values(source)
        each((weight, row, from) => {
          for (let column = 0; column < columns; column += 1)
            result[row + column]! += weight * values[from + column]!
        })
      },
      (gradient) => {
        if (source.gradient === 0) return
        const own = workspace.gradients(source)
        each((weight, row, from) => {
          for (let column = 0; column < columns; column += 1)
            own[from + column]! += weight * gradient[row + column]!
        })
      },
    )
  }

  /** a[aRows[p]] · b[bRows[p]], one entry per row. */
  dots(a: Tensor, aRows: readonly number[], b: Tensor, bRows: readonly number[]): Tensor {
    return this.tape.dotRows(
      a,
      this.tape.indices(aRows),
      b,
      this.tape.indices(bRows),
      this.tape.zeros(aRows.length, 1),
    )
  }

  /** Every row of a with every row of b: a · bᵀ. */
  rowProducts(a: Tensor, b: Tensor): Tensor {
    const pairs = [...Array(a.rows * b.rows).keys()]
    const products = this.dots(
      a,
      pairs.map((pair) => Math.floor(pair / b.rows)),
      b,
      pairs.map((pair) => pair % b.rows),
    )
    return { ...products, rows: a.rows, columns: b.rows, stride: b.rows }
  }

  /** Each row divided by its length; a zero row is unchanged, as in PyTorch. */
  unitRows(x: Tensor): Tensor {
    const { columns } = x
    const lengthOf = (values: Float32Array, row: number) => {
      let sum = 0
      for (let at = row * columns; at < (row + 1) * columns; at += 1) sum += values[at]! ** 2
      return Math.max(Math.sqrt(sum), 1e-12)
    }
    return this.#rowwise(
      x,
      (values, result, row) => {
        const length = lengthOf(values, row)
        for (let at = row * columns; at < (row + 1) * columns; at += 1) result[at] = values[at]! / length
      },
      (values, result, gradient, own, row) => {
        const length = lengthOf(values, row)
        let along = 0
        for (let at = row * columns; at < (row + 1) * columns; at += 1) along += gradient[at]! * result[at]!
        for (let at = row * columns; at < (row + 1) * columns; at += 1)
          own[at]! += (gradient[at]! - along * result[at]!) / length
      },
    )
  }

  /** Each row's ln softmax, shifted by the largest entry so that nothing overflows. */
  logSoftmax(x: Tensor): Tensor {
    const { columns } = x
    return this.#rowwise(
      x,
      (values, result, row) => {
        const entries = values.subarray(row * columns, (row + 1) * columns)
        const largest = entries.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
        const total = Math.log(entries.reduce((sum, value) => sum + Math.exp(value - largest), 0))
        for (const [column, value] of entries.entries())
          result[row * columns + column] = value - largest - total
      },
      (_, result, gradient, own, row) => {
        let total = 0
        for (let at = row * columns; at < (row + 1) * columns; at += 1) total += gradient[at]!
        for (let at = row * columns; at < (row + 1) * columns; at += 1)
          own[at]! += gradient[at]! - Math.exp(result[at]!) * total
      },
    )
  }

  /** Rescales all entries linearly so that the smallest is −1 and the largest 1; −1 if all are equal. */
  minMax(x: Tensor): Tensor {
    const extremes = (values: Float32Array) => {
      let [low, high] = [0, 0]
      for (const [at, value] of values.entries()) {
        if (value < values[low]!) low = at
        if (value > values[high]!) high = at
      }
      return { low, high, range: values[high]! - values[low]! || 1 }
    }
    const { workspace } = this.tape
    return this.tape.operation(
      x.rows,
      x.columns,
      (result) => {
        const values = workspace.values(x)
        const { low, range } = extremes(values)
        for (const [at, value] of values.entries()) result[at] = (2 * (value - values[low]!)) / range - 1
      },
      (gradient, result) => {
        if (x.gradient === 0) return
        const { low, high, range } = extremes(workspace.values(x))
        const own = workspace.gradients(x)
        let [sum, ofHigh] = [0, 0]
        for (const [at, given] of gradient.entries()) {
          own[at]! += (2 * given) / range
          sum += given
          // y = 2·(x − low)/(high − low) − 1, so dy/dhigh = −(y + 1)/range.
          ofHigh += (given * (result[at]! + 1)) / range
        }
        own[high]! -= ofHigh
        own[low]! += ofHigh - (2 * sum) / range
      },
    )
  }

  /** Σ factor · (all entries of the tensor): one entry, such as a loss. */
  weightedSum(...terms: readonly (readonly [x: Tensor, factor: number])[]): Tensor {
    const { workspace } = this.tape
    return this.tape.operation(
      1,
      1,
      (result) => {
        let sum = 0
        for (const [x, factor] of terms)
          sum += factor * workspace.values(x).reduce((part, value) => part + value, 0)
        result[0] = sum
      },
      ([given]) => {
        for (const [x, factor] of terms) {
          if (x.gradient === 0) continue
          const own = workspace.gradients(x)
          for (let at = 0; at < own.length; at += 1) own[at]! += factor * given!
        }
      },
    )
  }

  #entrywise(
    x: Tensor,
    f: (value: number, index: number) => number,
    slope: (value: number, result: number, index: number) => number,
  ): Tensor {
    const { workspace } = this.tape
    return this.tape.operation(
      x.rows,
      x.columns,
      (result) => {
        const values = workspace.values(x)
        for (let at = 0; at < result.length; at += 1) result[at] = f(values[at]!, at)
      },
      (gradient, result) => {
        if (x.gradient === 0) return
        const [values, own] = [workspace.values(x), workspace.gradients(x)]
        for (let at = 0; at < result.length; at += 1)
          own[at]! += gradient[at]! * slope(values[at]!, result[at]!, at)
      },
    )
  }

  #combine(
    a: Tensor,
    b: Tensor,
    f: (x: number, y: number) => number,
    slopeA: (x: number, y: number) => number,
    slopeB: (x: number, y: number) => number,
  ): Tensor {
    const { workspace } = this.tape
    const larger = a.rows * a.columns >= b.rows * b.columns ? a : b
    // A single entry is reused for all.
    const [stepA, stepB] = [a, b].map(({ rows, columns }) => (rows * columns === 1 ? 0 : 1)) as [
      number,
      number,
    ]
    return this.tape.operation(
      larger.rows,
      larger.columns,
      (result) => {
        const [x, y] = [workspace.values(a), workspace.values(b)]
        for (let at = 0; at < result.length; at += 1) result[at] = f(x[at * stepA]!, y[at * stepB]!)
      },
      (gradient) => {
        const [x, y] = [workspace.values(a), workspace.values(b)]
        const spread = (one: Tensor, step: number, slope: typeof slopeA) => {
          if (one.gradient === 0) return
          const own = workspace.gradients(one)
          for (let at = 0; at < gradient.length; at += 1)
            own[at * step]! += gradient[at]! * slope(x[at * stepA]!, y[at * stepB]!)
        }
        spread(a, stepA, slopeA)
        spread(b, stepB, slopeB)
      },
    )
  }

  #rowwise(
    x: Tensor,
    compute: (values: Float32Array, result: Float32Array, row: number) => void,
    spread: (
      values: Float32Array,
      result: Float32Array,
      gradient: Float32Array,
      own: Float32Array,
      row: number,
    ) => void,
  ): Tensor {
    const { workspace } = this.tape
    return this.tape.operation(
      x.rows,
      x.columns,
      (result) => {
        for (let row = 0; row < x.rows; row += 1) compute(workspace.values(x), result, row)
      },
      (gradient, result) => {
        if (x.gradient === 0) return
        const own = workspace.gradients(x)
        for (let row = 0; row < x.rows; row += 1) spread(workspace.values(x), result, gradient, own, row)
      },
    )
  }
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
