import { expect, test } from 'vitest'
import { columnCounts, forAll, KernelArena, rowCounts, sizes } from '../../../test/kernel-arena.ts'
import { expectSums, sums } from '../../../test/rounding.ts'

const cases = sizes.flatMap(({ columns, rows }, index) => [
  { m: rows, n: columns, k: columnCounts[(index * 7) % columnCounts.length]!, gap: 0 },
  { m: rowCounts[(index * 5) % rowCounts.length]!, n: (index % 11) + 1, k: columns, gap: 1 + (index % 6) },
])

test('linear', () =>
  forAll(cases, ({ m, n, k, gap }) => {
    const arena = new KernelArena('linear', m, n, k)
    const draw = () => arena.normal()
    const x = arena.matrix(m, k, draw, gap)
    const w = arena.matrix(n, k, draw, gap)
    const [xs, ws] = [arena.read(x), arena.read(w)]
    for (const accumulate of [0, 1]) {
      const y = accumulate ? arena.matrix(m, n, draw, gap) : arena.uninitialised(m, n, gap)
      const before = arena.read(y)
      arena.run([y], (kernels) =>
        kernels.linear(m, n, k, x.pointer, x.stride, w.pointer, w.stride, y.pointer, y.stride, accumulate),
      )
      const expected = sums(
        m,
        n,
        k,
        (i, j) => (accumulate ? before[i]![j]! : 0),
        (i, j, p) => xs[i]![p]! * ws[j]![p]!,
      )
      expectSums('y', arena.read(y), expected)
    }
  }))

test('product', () =>
  forAll(cases, ({ m, n, k, gap }) => {
    const arena = new KernelArena('product', m, n, k)
    const draw = () => arena.normal()
    const x = arena.matrix(m, n, draw, gap)
    const w = arena.matrix(n, k, draw, gap)
    const y = arena.matrix(m, k, draw, gap)
    const [xs, ws, ys] = [arena.read(x), arena.read(w), arena.read(y)]
    arena.run([y], (kernels) =>
      kernels.product(m, n, k, x.pointer, x.stride, w.pointer, w.stride, y.pointer, y.stride),
    )
    const expected = sums(
      m,
      k,
      n,
      (i, c) => ys[i]![c]!,
      (i, c, j) => xs[i]![j]! * ws[j]![c]!,
    )
    expectSums('y', arena.read(y), expected)
  }))

test('outer', () =>
  forAll(cases, ({ m, n, k, gap }) => {
    const arena = new KernelArena('outer', m, n, k)
    const draw = () => arena.normal()
    const y = arena.matrix(m, n, draw, gap)
    const x = arena.matrix(m, k, draw, gap)
    const w = arena.matrix(n, k, draw, gap)
    const [ys, xs, ws] = [arena.read(y), arena.read(x), arena.read(w)]
    arena.run([w], (kernels) =>
      kernels.outer(m, n, k, y.pointer, y.stride, x.pointer, x.stride, w.pointer, w.stride),
    )
    const expected = sums(
      n,
      k,
      m,
      (j, c) => ws[j]![c]!,
      (j, c, i) => ys[i]![j]! * xs[i]![c]!,
    )
    expectSums('w', arena.read(w), expected)
  }))

test('a row is bit-identical in any batch', () => {
  const rows = 70
  for (const [n, k] of [
    [1, 6],
    [2, 16],
    [3, 5],
    [7, 19],
    [8, 33],
    [13, 50],
  ] as const) {
    const arena = new KernelArena('rows apart', n, k)
    const x = arena.matrix(rows, k, () => arena.normal(), 1)
    const w = arena.matrix(n, k, () => arena.normal(), 2)
    const start = arena.matrix(1, n, () => arena.normal())
    const [added] = arena.read(start)
    const matrix = arena.matrix(k, n, () => arena.normal())
    const batch = (from: number, count: number) => {
      const plain = arena.uninitialised(count, n)
      const accumulated = arena.matrix(count, n, () => 0)
      const multiplied = arena.matrix(count, n, () => 0)
      for (let i = 0; i < count; i += 1)
        for (const [j, value] of added!.entries()) {
          arena.write(accumulated, i, j, value)
          arena.write(multiplied, i, j, value)
        }
      const first = x.pointer + from * x.stride * 4
      const weights = [w.pointer, w.stride] as const
      arena.kernels.linear(count, n, k, first, x.stride, ...weights, plain.pointer, n, 0)
      arena.kernels.linear(count, n, k, first, x.stride, ...weights, accumulated.pointer, n, 1)
      arena.kernels.product(count, k, n, first, x.stride, matrix.pointer, n, multiplied.pointer, n)
      return [plain, accumulated, multiplied].map((result) => arena.read(result))
    }
    const alone = Array.from({ length: rows }, (_, row) => batch(row, 1))
    for (const count of [2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 34, 63, rows]) {
      const from = arena.integer(0, rows - count)
      for (const [kind, result] of batch(from, count).entries()) {
        const expected = alone.slice(from, from + count).map((single) => single[kind]![0]!)
        expect(result, `${count} rows of ${k} by ${n}`).toEqual(expected)
      }
    }
  }
})
