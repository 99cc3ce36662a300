import type { Kernels } from './kernels/kernels.ts'
import { WeightGradients } from './weight-gradients.ts'
import type { Tensor, Workspace } from './workspace.ts'

/** A list of row numbers in workspace memory. */
export interface Indices {
  readonly pointer: number
  readonly length: number
}

/** Lists of row numbers, one per row: list p is members[offsets[p]] … members[offsets[p + 1] - 1]. */
export interface RaggedIndices {
  readonly offsets: Indices
  readonly members: Indices
}

const noTensor: Tensor = { data: 0, gradient: 0, rows: 0, columns: 0, stride: 0 }

/**
 * The network's operations on float32 tensors, with their gradients. A recording tape keeps what the gradient needs,
 * and `backward` walks it in reverse; a non-recording one only runs forward. An operation with `into` adds to that
 * tensor: a sum is one buffer its terms are added to, and each term finds the sum's whole gradient there.
 */
export class Tape {
  readonly workspace: Workspace
  readonly #kernels: Kernels
  readonly #recording: boolean
  readonly #steps: (() => void)[] = []
  readonly #weights: WeightGradients

  constructor(workspace: Workspace, options: { recording: boolean }) {
    this.workspace = workspace
    this.#kernels = workspace.kernels
    this.#recording = options.recording
    this.#weights = new WeightGradients(workspace)
  }

  /** Propagates all gradients back from those written into the results' gradient buffers. */
  backward(): void {
    this.propagate().write()
  }

  /** Like `backward`, but leaves the gradients of weight matrices for the caller to compute. */
  propagate(): WeightGradients {
    for (let step = this.#steps.length - 1; step >= 0; step -= 1) this.#steps[step]!()
    this.#steps.length = 0
    return this.#weights
  }

  indices(list: ArrayLike<number>): Indices {
    return { pointer: this.workspace.indices(list), length: list.length }
  }

  ragged(lists: readonly ArrayLike<number>[]): RaggedIndices {
    const offsets = [0]
    const members: number[] = []
    for (const list of lists) {
      for (let position = 0; position < list.length; position += 1) members.push(list[position]!)
      offsets.push(members.length)
    }
    return { offsets: this.indices(offsets), members: this.indices(members) }
  }

  zeros(rows: number, columns: number): Tensor {
    const data = this.workspace.zeros(rows * columns)
    return this.#tensor(data, rows, columns)
  }

  /** x · weightᵀ: a linear layer with weight [out, in]. */
  linear(x: Tensor, weight: Tensor, into?: Tensor): Tensor {
    const y = into ?? this.#uninitialised(x.rows, weight.rows)
    const { rows: n, columns: k, data: w, stride: ld } = weight
    const m = x.rows
    this.#kernels.linear(m, n, k, x.data, x.stride, w, ld, y.data, y.stride, into ? 1 : 0)
    this.#record(() => {
      if (x.gradient) this.#kernels.product(m, n, k, y.gradient, y.stride, w, ld, x.gradient, x.stride)
      if (weight.gradient)
        this.#weights.add(weight, { m, a: y.gradient, lda: y.stride, b: x.data, ldb: x.stride })
    })
    return y
  }

  /** x · weight, with weight [in, out]. */
  product(x: Tensor, weight: Tensor): Tensor {
    const y = this.zeros(x.rows, weight.columns)
    const { rows: n, columns: k, data: w, stride: ld } = weight
    const m = x.rows
    this.#kernels.product(m, n, k, x.data, x.stride, w, ld, y.data, y.stride)
    this.#record(() => {
      if (x.gradient) this.#kernels.linear(m, n, k, y.gradient, y.stride, w, ld, x.gradient, x.stride, 1)
      if (weight.gradient)
        this.#weights.add(weight, { m, a: x.data, lda: x.stride, b: y.gradient, ldb: y.stride })
    })
    return y
  }

  /** Adds source[rows[p]] to row p. */
  gather(source: Tensor, rows: Indices, into: Tensor): Tensor {
    this.#kernels.gatherAdd(rows.length, into.columns, source.data, rows.pointer, into.data)
    this.#record(() => {
      if (source.gradient)
        this.#kernels.scatterAdd(rows.length, into.columns, into.gradient, rows.pointer, source.gradient)
    })
    return into
  }

  /** Adds row p to row rows[p]. */
  scatter(source: Tensor, rows: Indices, into: Tensor): Tensor {
    this.#kernels.scatterAdd(rows.length, into.columns, source.data, rows.pointer, into.data)
    this.#record(() => {
      if (source.gradient)
        this.#kernels.gatherAdd(rows.length, into.columns, into.gradient, rows.pointer, source.gradient)
    })
    return into
  }

  /** Adds one row to all rows. */
  bias(bias: Tensor, into: Tensor): Tensor {
    // The bias is row 0 of its tensor, and a float 0 has the bits of the integer 0.
    return this.gather(bias, { pointer: this.workspace.zeros(into.rows), length: into.rows }, into)
  }

  /** Adds x ⊙ factors; the factors are constants. */
  scale(x: Tensor, factors: Tensor, into: Tensor): Tensor {
    const n = x.rows * x.columns
    this.#kernels.multiplyAdd(n, x.data, factors.data, into.data)
    this.#record(() => this.#kernels.multiplyAdd(n, into.gradient, factors.data, x.gradient))
    return into
  }

  gelu(x: Tensor): Tensor {
    const n = x.rows * x.columns
    const y = this.#uninitialised(x.rows, x.columns)
    const slope = this.#recording ? this.workspace.allocate(n) : 0
    this.#kernels.gelu(n, x.data, y.data, slope)
    this.#record(() => this.#kernels.multiplyAdd(n, y.gradient, slope, x.gradient))
    return y
  }

  layerNorm(x: Tensor, weight: Tensor, bias: Tensor, into = this.#uninitialised(x.rows, x.columns)): Tensor {
    const stats = this.workspace.allocate(x.rows * 3)
    const operands = [x.rows, x.columns, x.data, weight.data] as const
    this.#kernels.layerNorm(...operands, bias.data, into.data, stats)
    this.#record(() => {
      const gradients = [into.gradient, x.gradient, weight.gradient, bias.gradient] as const
      this.#kernels.layerNormGradient(...operands, stats, ...gradients)
    })
    return into
  }

  /** The gates of a GRUCell on its two projections; without a previous state, it is zero. */
  gru(
    input: Tensor,
    hidden: Tensor,
    previous = noTensor,
    u = this.#uninitialised(input.rows, input.columns / 3),
  ): Tensor {
    const sizes = [input.rows, input.columns / 3] as const
    const gates = this.workspace.allocate(input.rows * input.columns)
    this.#kernels.gruGates(...sizes, input.data, hidden.data, previous.data, u.data, gates)
    this.#record(() => {
      const gradients = [u.gradient, input.gradient, hidden.gradient, previous.gradient] as const
      this.#kernels.gruGatesGradient(...sizes, hidden.data, previous.data, gates, ...gradients)
    })
    return u
  }

  /** Row p is the mean of the source rows in list p, or zero. */
  meanRows(source: Tensor, { offsets, members }: RaggedIndices): Tensor {
    const sizes = [offsets.length - 1, source.columns] as const
    const lists = [offsets.pointer, members.pointer] as const
    const out = this.#uninitialised(...sizes)
    this.#kernels.meanRows(...sizes, source.data, ...lists, out.data)
    this.#record(() => this.#kernels.meanRowsGradient(...sizes, out.gradient, ...lists, source.gradient))
    return out
  }

  /** Row p is a[aRows[p]] ⊙ b[bRows[p]]. */
  multiplyRows(a: Tensor, aRows: Indices, b: Tensor, bRows: Indices): Tensor {
    const out = this.#uninitialised(aRows.length, a.columns)
    const operands = [aRows.length, a.columns, a.data, aRows.pointer, b.data, bRows.pointer] as const
    this.#kernels.multiplyRows(...operands, out.data)
    this.#record(() => this.#kernels.multiplyRowsGradient(...operands, out.gradient, a.gradient, b.gradient))
    return out
  }

  /** Adds a[aRows[p]] · b[bRows[p]] to row p of a one-column tensor. */
  dotRows(a: Tensor, aRows: Indices, b: Tensor, bRows: Indices, into: Tensor): Tensor {
    const operands = [aRows.length, a.columns, a.data, aRows.pointer, b.data, bRows.pointer] as const
    this.#kernels.dotRows(...operands, into.data)
    this.#record(() => this.#kernels.dotRowsGradient(...operands, into.gradient, a.gradient, b.gradient))
    return into
  }

  /** Softmax-weighted mean of each list's states by their dot product with a key; an empty list leaves its row unchanged. */
  attentionPool(
    states: Tensor,
    lists: RaggedIndices,
    keys: Tensor,
    keyRows: Indices,
    scale: number,
    into: Tensor,
  ): Tensor {
    const weights = this.workspace.allocate(lists.members.length)
    const operands = [
      ...[keyRows.length, states.columns, states.data],
      ...[lists.offsets.pointer, lists.members.pointer, keys.data, keyRows.pointer],
      ...[scale, weights],
    ] as const
    this.#kernels.attentionPool(...operands, into.data)
    this.#record(() =>
      this.#kernels.attentionPoolGradient(...operands, into.gradient, states.gradient, keys.gradient),
    )
    return into
  }

  /**
   * An operation without a kernel: `compute` fills the result, and `spread` propagates its gradient to the operands.
   * Both get views of contiguous tensors that are valid while they run.
   */
  operation(
    rows: number,
    columns: number,
    compute: (result: Float32Array) => void,
    spread: (gradient: Float32Array, result: Float32Array) => void,
  ): Tensor {
    const result = this.#uninitialised(rows, columns)
    compute(this.workspace.values(result))
    this.#record(() => spread(this.workspace.gradients(result), this.workspace.values(result)))
    return result
  }

  #record(step: () => void): void {
    if (this.#recording) this.#steps.push(step)
  }

  #uninitialised(rows: number, columns: number): Tensor {
    return this.#tensor(this.workspace.allocate(rows * columns), rows, columns)
  }

  #tensor(data: number, rows: number, columns: number): Tensor {
    const gradient = this.#recording ? this.workspace.zeros(rows * columns) : 0
    return { data, gradient, rows, columns, stride: columns }
  }
}
