import { describe, expect, test } from 'vitest'
import { expectClose } from '../../test/rounding.ts'
import {
  add,
  concat,
  dotProduct,
  gelu,
  layerNorm,
  linear,
  multiply,
  scale,
  sigmoid,
  slice,
  softmax,
  subtract,
  sum,
  tanh,
} from './plain/operations.ts'
import { constant, leaf, type Value } from './plain/value.ts'
import { deriveRandom } from './random.ts'
import { Tape } from './tape.ts'
import { columnsOf, rowsOf, type Tensor, Workspace } from './workspace.ts'

/** An operand of the plain twin: its rows. */
type Rows = readonly Value[]

interface Comparison {
  /** Rows and columns of each operand. */
  readonly shapes: readonly (readonly [rows: number, columns: number])[]
  readonly fast: (tape: Tape, operands: readonly Tensor[], workspace: Workspace) => Tensor
  readonly plain: (operands: readonly Rows[]) => Rows
}

/**
 * Runs an operation on both engines with the same operands and result gradient, and compares results and
 * operand gradients. These start at a nonzero value, since the backward pass must add to it.
 */
function compare(name: string, { shapes, fast, plain }: Comparison): void {
  const random = deriveRandom(1, 'tape', name, JSON.stringify(shapes))
  const draw = (count: number) => Float32Array.from({ length: count }, () => random.normal())
  const workspace = new Workspace()
  const operands = shapes.map(([rows, columns]) => leafTensor(workspace, draw(rows * columns), rows, columns))
  const starts = operands.map((operand) => {
    const start = draw(operand.rows * operand.columns)
    workspace.gradients(operand).set(start)
    return start
  })
  const leaves = operands.map((operand) => leaf(Float64Array.from(workspace.values(operand))))
  const tape = new Tape(workspace, { recording: true })
  const result = fast(tape, operands, workspace)
  const expected = plain(
    leaves.map((value, index) => {
      const { rows, columns } = operands[index]!
      return Array.from({ length: rows }, (_, row) => slice(value, row * columns, columns))
    }),
  )
  const size = [result.rows, result.columns]
  expect(size, 'shape of the result').toEqual([expected.length, expected[0]!.length])
  const close = (what: string, got: Float32Array, wanted: Float64Array | number[]) =>
    expectClose(`${name} ${what}`, [[...got]], [[...wanted]], (_, j) => 1e-5 + 1e-4 * Math.abs(wanted[j]!))
  close('result', workspace.values(result), concat(...expected).data)

  const upstream = draw(result.rows * result.columns)
  workspace.gradients(result).set(upstream)
  tape.backward()
  sum(multiply(concat(...expected), constant(Float64Array.from(upstream)))).backward()
  for (const [index, operand] of operands.entries()) {
    const wanted = [...starts[index]!].map((start, entry) => start + leaves[index]!.gradient[entry]!)
    close(`gradient of operand ${index}`, workspace.gradients(operand), wanted)
  }
}

function leafTensor(workspace: Workspace, values: ArrayLike<number>, rows: number, columns: number): Tensor {
  return { ...workspace.constant(values, rows, columns), gradient: workspace.zeros(rows * columns) }
}

/** Copies an operand into a fresh sum that takes further terms. */
function sumFrom(tape: Tape, operand: Tensor): Tensor {
  const rows = Array.from({ length: operand.rows }, (_, row) => row)
  return tape.gather(operand, tape.indices(rows), tape.zeros(operand.rows, operand.columns))
}

const weightOf = (rows: Rows) => concat(...rows)
const linearRows = (x: Rows, weight: Rows) => x.map((row) => linear(weightOf(weight), row))
const addRows = (a: Rows, b: Rows) => a.map((row, index) => add(row, b[index]!))
const meanOf = (rows: Rows) => scale(add(...(rows as [Value, ...Value[]])), 1 / rows.length)

const rowCounts = [1, 2, 3, 5, 9, 34]
const columnCounts = [1, 2, 3, 4, 5, 7, 8, 17]
const sizes = columnCounts.flatMap((columns, index) =>
  [0, 3].map((shift) => ({ columns, rows: rowCounts[(index + shift) % rowCounts.length]! })),
)

function forAllSizes(check: (rows: number, columns: number) => void): void {
  for (const { rows, columns } of sizes) check(rows, columns)
}

/** One list per row, some empty, some with repetitions. */
const listsOver = (rows: number, count: number) =>
  Array.from({ length: count }, (_, index) =>
    Array.from({ length: index % 4 }, (_, member) => (index * 3 + member * member) % rows),
  )
const listOver = (rows: number, count: number) =>
  Array.from({ length: count }, (_, index) => (index * 5) % rows)

describe('values and gradients match the plain engine', () => {
  test('linear', () =>
    forAllSizes((rows, columns) => {
      for (const outputs of [1, 4, 11]) {
        compare('linear', {
          shapes: [
            [rows, columns],
            [outputs, columns],
          ],
          fast: (tape, [x, weight]) => tape.linear(x!, weight!),
          plain: ([x, weight]) => linearRows(x!, weight!),
        })
      }
    }))

  test('linear added to a sum', () =>
    forAllSizes((rows, columns) =>
      compare('linear into', {
        shapes: [
          [rows, columns],
          [3, columns],
          [rows, 3],
        ],
        fast: (tape, [x, weight, base]) => tape.linear(x!, weight!, sumFrom(tape, base!)),
        plain: ([x, weight, base]) => addRows(linearRows(x!, weight!), base!),
      }),
    ))

  test('product', () =>
    forAllSizes((rows, columns) =>
      compare('product', {
        shapes: [
          [rows, columns],
          [columns, 6],
        ],
        fast: (tape, [x, matrix]) => tape.product(x!, matrix!),
        plain: ([x, matrix]) =>
          x!.map((row) =>
            add(...(matrix!.map((line, j) => multiply(slice(row, j, 1), line)) as [Value, ...Value[]])),
          ),
      }),
    ))

  test('gather and bias', () =>
    forAllSizes((rows, columns) => {
      const list = listOver(rows, 7)
      compare('gather', {
        shapes: [
          [rows, columns],
          [7, columns],
          [1, columns],
        ],
        fast: (tape, [source, base, bias]) =>
          tape.bias(bias!, tape.gather(source!, tape.indices(list), sumFrom(tape, base!))),
        plain: ([source, base, bias]) => list.map((from, row) => add(source![from]!, base![row]!, bias![0]!)),
      })
    }))

  test('scatter', () =>
    forAllSizes((rows, columns) => {
      const list = listOver(4, rows)
      compare('scatter', {
        shapes: [
          [rows, columns],
          [4, columns],
        ],
        fast: (tape, [source, base]) => tape.scatter(source!, tape.indices(list), sumFrom(tape, base!)),
        plain: ([source, base]) =>
          base!.map((row, index) => add(row, ...source!.filter((_, from) => list[from] === index))),
      })
    }))

  test('scale by constants', () =>
    forAllSizes((rows, columns) => {
      const factors = Float32Array.from({ length: rows * columns }, (_, index) => (index % 3) - 0.5)
      compare('scale', {
        shapes: [
          [rows, columns],
          [rows, columns],
        ],
        fast: (tape, [x, base], workspace) =>
          tape.scale(x!, workspace.constant(factors, rows, columns), sumFrom(tape, base!)),
        plain: ([x, base]) =>
          x!.map((row, index) => {
            const own = Float64Array.from(factors.subarray(index * columns, (index + 1) * columns))
            return add(multiply(row, constant(own)), base![index]!)
          }),
      })
    }))

  test('gelu', () =>
    forAllSizes((rows, columns) =>
      compare('gelu', {
        shapes: [[rows, columns]],
        fast: (tape, [x]) => tape.gelu(x!),
        plain: ([x]) => x!.map(gelu),
      }),
    ))

  test('layerNorm, on its own and into rows of another tensor', () =>
    forAllSizes((rows, columns) => {
      // One column has zero deviation, so everything depends on the epsilon.
      if (columns === 1) return
      const shapes = [
        [rows, columns],
        [1, columns],
        [1, columns],
      ] as const
      const plain = ([x, weight, bias]: readonly Rows[]) =>
        x!.map((row) => layerNorm(row, weight![0]!, bias![0]!))
      compare('layerNorm', {
        shapes,
        fast: (tape, [x, weight, bias]) => tape.layerNorm(x!, weight!, bias!),
        plain,
      })
      compare('layerNorm into', {
        shapes,
        fast: (tape, [x, weight, bias]) => {
          const target = tape.zeros(rows + 2, columns)
          tape.layerNorm(x!, weight!, bias!, rowsOf(target, 1, rows))
          return target
        },
        plain: (operands) => {
          const zero = constant(new Float64Array(columns))
          return [zero, ...plain(operands), zero]
        },
      })
    }))

  test('gru, with and without a previous state', () =>
    forAllSizes((rows, columns) => {
      const cell = (input: Value, hidden: Value, state: Value) => {
        const gate = (vector: Value, index: number) => slice(vector, index * columns, columns)
        const reset = sigmoid(add(gate(input, 0), gate(hidden, 0)))
        const update = sigmoid(add(gate(input, 1), gate(hidden, 1)))
        const candidate = tanh(add(gate(input, 2), multiply(reset, gate(hidden, 2))))
        return add(candidate, multiply(update, subtract(state, candidate)))
      }
      const projections = [
        [rows, 3 * columns],
        [rows, 3 * columns],
      ] as const
      compare('gru', {
        shapes: [...projections, [rows, columns]],
        fast: (tape, [input, hidden, state]) => tape.gru(input!, hidden!, state),
        plain: ([input, hidden, state]) => input!.map((row, i) => cell(row, hidden![i]!, state![i]!)),
      })
      compare('gru from nothing', {
        shapes: projections,
        fast: (tape, [input, hidden]) => tape.gru(input!, hidden!, undefined),
        plain: ([input, hidden]) =>
          input!.map((row, i) => cell(row, hidden![i]!, constant(new Float64Array(columns)))),
      })
    }))

  test('meanRows', () =>
    forAllSizes((rows, columns) => {
      const lists = listsOver(rows, 6)
      compare('meanRows', {
        shapes: [[rows, columns]],
        fast: (tape, [source]) => tape.meanRows(source!, tape.ragged(lists)),
        plain: ([source]) =>
          lists.map((list) =>
            list.length === 0
              ? constant(new Float64Array(columns))
              : meanOf(list.map((row) => source![row]!)),
          ),
      })
    }))

  test('multiplyRows and dotRows, of two tensors and of one with itself', () =>
    forAllSizes((rows, columns) => {
      const [own, other] = [listOver(rows, 6), listOver(4, 6).toReversed()]
      const shapes = [
        [rows, columns],
        [4, columns],
      ] as const
      compare('multiplyRows', {
        shapes,
        fast: (tape, [a, b]) => tape.multiplyRows(a!, tape.indices(own), b!, tape.indices(other)),
        plain: ([a, b]) => own.map((row, p) => multiply(a![row]!, b![other[p]!]!)),
      })
      compare('dotRows', {
        shapes: [...shapes, [6, 1]],
        fast: (tape, [a, b, base]) =>
          tape.dotRows(a!, tape.indices(own), b!, tape.indices(other), sumFrom(tape, base!)),
        plain: ([a, b, base]) => own.map((row, p) => add(dotProduct(a![row]!, b![other[p]!]!), base![p]!)),
      })
      compare('dotRows of one', {
        shapes: [[rows, columns]],
        fast: (tape, [a]) =>
          tape.dotRows(a!, tape.indices(own), a!, tape.indices(own.toReversed()), tape.zeros(6, 1)),
        plain: ([a]) => own.map((row, p) => dotProduct(a![row]!, a![own.at(-1 - p)!]!)),
      })
    }))

  test('attentionPool', () =>
    forAllSizes((rows, columns) => {
      const lists = listsOver(rows, 6)
      const keyRows = listOver(2, 6)
      compare('attentionPool', {
        shapes: [
          [rows, columns],
          [2, columns],
          [6, columns],
        ],
        fast: (tape, [states, keys, base]) => {
          // Only an empty list keeps the previous value; a decision with units starts from zero, as in the
          // network.
          const into = tape.zeros(6, columns)
          for (const [row, list] of lists.entries())
            if (list.length === 0) tape.bias(rowsOf(base!, row, 1), rowsOf(into, row, 1))
          return tape.attentionPool(states!, tape.ragged(lists), keys!, tape.indices(keyRows), 0.7, into)
        },
        plain: ([states, keys, base]) =>
          lists.map((list, d) => {
            if (list.length === 0) return base![d]!
            const scores = list.map((row) => dotProduct(states![row]!, keys![keyRows[d]!]!))
            const weights = softmax(scale(concat(...scores), 0.7))
            const terms = list.map((row, q) => multiply(slice(weights, q, 1), states![row]!))
            return add(...(terms as [Value, ...Value[]]))
          }),
      })
    }))
})

describe('views', () => {
  test('columns of a weight get exactly their own gradients', () =>
    forAllSizes((rows, columns) =>
      compare('columns', {
        // [a; b] · [W_a | unused | W_b]ᵀ, the way the heads split a concatenated input.
        shapes: [
          [rows, columns],
          [rows, 3],
          [5, columns + 2 + 3],
        ],
        fast: (tape, [a, b, weight]) => {
          const first = tape.linear(a!, columnsOf(weight!, 0, columns))
          return tape.linear(b!, columnsOf(weight!, columns + 2, 3), first)
        },
        plain: ([a, b, weight]) => {
          const part = (from: number, count: number) => weight!.map((row) => slice(row, from, count))
          return addRows(linearRows(a!, part(0, columns)), linearRows(b!, part(columns + 2, 3)))
        },
      }),
    ))

  test('overlapping rows add up their gradients', () =>
    forAllSizes((rows, columns) =>
      compare('rows', {
        shapes: [
          [rows + 3, columns],
          [2, columns],
          [2, columns],
        ],
        fast: (tape, [x, first, second]) => {
          const sum = tape.linear(rowsOf(x!, 0, rows), first!)
          return tape.linear(rowsOf(x!, 2, rows), second!, sum)
        },
        plain: ([x, first, second]) =>
          addRows(linearRows(x!.slice(0, rows), first!), linearRows(x!.slice(2, rows + 2), second!)),
      }),
    ))

  test('rows of a result, used beside the whole', () =>
    compare('rows of a result', {
      shapes: [
        [4, 5],
        [3, 5],
      ],
      fast: (tape, [x, weight]) => {
        const y = tape.linear(x!, weight!)
        const doubled = sumFrom(tape, y)
        // Row 2 of y counts three times in total.
        tape.gather(y, tape.indices([2]), rowsOf(doubled, 2, 1))
        tape.gather(y, tape.indices([2]), rowsOf(doubled, 2, 1))
        return doubled
      },
      plain: ([x, weight]) =>
        linearRows(x!, weight!).map((row, index) => (index === 2 ? scale(row, 3) : row)),
    }))

  test('every other row of a constant, by stride', () => {
    const workspace = new Workspace()
    const tape = new Tape(workspace, { recording: false })
    const constantRows = workspace.constant([1, 2, 3, 4, 5, 6, 7, 8], 4, 2)
    const odd = { ...constantRows, data: constantRows.data + 8, rows: 2, stride: 4 }
    const weight = workspace.constant([1, 10], 1, 2)
    expect([...workspace.values(tape.linear(odd, weight))]).toEqual([43, 87])
  })
})

test('a chain of operations is differentiated as a whole', () => {
  compare('chain', {
    shapes: [
      [6, 5],
      [7, 5],
      [1, 7],
      [1, 7],
      [1, 7],
    ],
    fast: (tape, [x, weight, bias, scales, shifts]) =>
      tape.layerNorm(tape.gelu(tape.bias(bias!, tape.linear(x!, weight!))), scales!, shifts!),
    plain: ([x, weight, bias, scales, shifts]) =>
      x!.map((row) => layerNorm(gelu(linear(weightOf(weight!), row, bias![0]!)), scales![0]!, shifts![0]!)),
  })
})

test('a tape that does not record computes the same values and leaves gradients alone', () => {
  const workspace = new Workspace()
  const run = (recording: boolean) => {
    const x = leafTensor(workspace, [0.5, -1, 2, 0.25, 3, -2], 2, 3)
    const weight = leafTensor(workspace, [1, 2, 3, 4, 5, 6], 2, 3)
    const tape = new Tape(workspace, { recording })
    const y = tape.gelu(tape.linear(x, weight))
    const values = [...workspace.values(y)]
    if (recording) workspace.gradients(y).fill(1)
    tape.backward()
    return { y, values, gradients: [...workspace.gradients(x), ...workspace.gradients(weight)] }
  }
  const recorded = run(true)
  const plain = run(false)
  expect(plain.values).toEqual(recorded.values)
  expect(plain.y.gradient).toBe(0)
  expect(plain.gradients.every((value) => value === 0)).toBe(true)
  expect(recorded.gradients.some((value) => value !== 0)).toBe(true)
})

test('calling backward twice adds nothing', () => {
  const workspace = new Workspace()
  const tape = new Tape(workspace, { recording: true })
  const x = leafTensor(workspace, [1, 2], 1, 2)
  workspace.gradients(tape.linear(x, workspace.constant([3, 4], 1, 2))).fill(1)
  tape.backward()
  tape.backward()
  expect([...workspace.gradients(x)]).toEqual([3, 4])
})

test('memory growth during a pass changes nothing', () => {
  const run = (growing: boolean) => {
    const workspace = new Workspace()
    const grow = () => growing && workspace.allocate(1 << 20)
    const tape = new Tape(workspace, { recording: true })
    const draw = numbers('growth')
    const x = leafTensor(workspace, draw(12), 3, 4)
    const weight = leafTensor(workspace, draw(20), 5, 4)
    grow()
    const hidden = tape.gelu(tape.linear(x, weight))
    grow()
    const y = tape.gather(hidden, tape.indices([2, 0, 1, 1]), tape.zeros(4, 5))
    grow()
    workspace.gradients(y).set(draw(20))
    tape.backward()
    return [y, x, weight].flatMap((tensor) => [...workspace.values(tensor), ...workspace.gradients(tensor)])
  }
  expect(run(true)).toEqual(run(false))
})

function numbers(name: string): (count: number) => Float32Array {
  const random = deriveRandom(2, name)
  return (count) => Float32Array.from({ length: count }, () => random.normal())
}
