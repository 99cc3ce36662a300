import { expect, test } from 'vitest'
import { columnCounts, forAll, KernelArena, sizes } from '../../../test/kernel-arena.ts'
import { expectClose, unitRoundoff as unit } from '../../../test/rounding.ts'

test('allFinite checks every entry and none beyond', () =>
  forAll(columnCounts, (n) => {
    const arena = new KernelArena('allFinite', n)
    const x = arena.matrix(1, n, () => 1e38 * (2 * arena.integer(0, 1) - 1))
    const ask = () => arena.kernels.allFinite(n, x.pointer)
    expect(ask()).toBe(1)
    for (let index = 0; index < n; index += 1) {
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        arena.write(x, 0, index, bad)
        expect(ask(), `${bad} at ${index}`).toBe(0)
      }
      arena.write(x, 0, index, 0)
    }
    expect(ask()).toBe(1)
  }))

test('adam', () =>
  forAll(columnCounts, (n) => {
    const arena = new KernelArena('adam', n)
    const parameters = arena.matrix(1, n, () => arena.normal())
    const gradients = arena.matrix(1, n, () => 10 ** arena.integer(-6, 2) * arena.normal())
    const first = arena.matrix(1, n, () => arena.normal())
    const second = arena.matrix(1, n, () => arena.normal() ** 2)
    const [[ps], [gs], [ms], [vs]] = [parameters, gradients, first, second].map((m) => arena.read(m)) as [
      number[][],
      number[][],
      number[][],
      number[][],
    ]
    const [stepSize, rootCorrection] = [1e-3, 3]
    const constants = arena.row([0.9, 0.1, 0.999, 0.001, stepSize, rootCorrection, 1e-8])
    arena.run([parameters, gradients, first, second], (kernels) =>
      kernels.adam(
        n,
        parameters.pointer,
        gradients.pointer,
        first.pointer,
        second.pointer,
        constants.pointer,
      ),
    )
    const m = gs!.map((g, i) => 0.9 * ms![i]! + 0.1 * g)
    const v = gs!.map((g, i) => 0.999 * vs![i]! + 0.001 * g * g)
    const step = m.map((mean, i) => (stepSize * mean) / (Math.sqrt(v[i]!) * rootCorrection + 1e-8))
    const near = (values: number[], magnitude: (index: number) => number) => (_: number, j: number) =>
      8 * unit * (Math.abs(values[j]!) + magnitude(j))
    expectClose(
      'first',
      arena.read(first),
      [m],
      near(m, (i) => Math.abs(ms![i]!)),
    )
    expectClose(
      'second',
      arena.read(second),
      [v],
      near(v, () => 0),
    )
    const after = ps!.map((p, i) => p - step[i]!)
    const loose = (i: number) => Math.abs(step[i]!) + (stepSize * Math.abs(ms![i]!)) / Math.sqrt(v[i]!)
    expectClose('parameters', arena.read(parameters), [after], near(after, loose))
    expect(arena.read(gradients)).toEqual([new Array(n).fill(0)])
  }))

test('a finite gradient whose square overflows leaves a finite moment', () => {
  const arena = new KernelArena('adam overflow')
  const parameters = arena.row([1, 1, 1, 1, 1])
  const gradients = arena.row([3e38, -3e38, 1e20, 1e18, 0])
  const [first, second] = [arena.matrix(1, 5, 0), arena.matrix(1, 5, 0)]
  const constants = arena.row([0.9, 0.1, 0.999, 0.001, 1e-3, 31, 1e-8])
  arena.run([parameters, gradients, first, second], (kernels) =>
    kernels.adam(5, parameters.pointer, gradients.pointer, first.pointer, second.pointer, constants.pointer),
  )
  for (const matrix of [parameters, first, second])
    expect(arena.read(matrix)[0]!.every(Number.isFinite)).toBe(true)
})

test('outerAdam equals outer followed by adam bit for bit, and needs no room for the gradient', () =>
  forAll(
    sizes.flatMap(({ rows, columns }, index) => [
      { n: rows, k: columns, gap: 0, terms: [{ m: 3 }, { m: 40 }, { m: 1 }] },
      { n: (index % 19) + 1, k: columns, gap: 1 + (index % 5), terms: index % 4 === 0 ? [] : [{ m: rows }] },
      // A concatenated weight: two column ranges with their own terms.
      {
        n: (index % 11) + 1,
        k: columns + 3,
        gap: 2,
        terms: [
          { m: 5, column: 0, width: columns },
          { m: 34, column: columns, width: 3 },
          { m: 2, column: 0, width: columns },
        ],
      },
    ]),
    ({ n, k, gap, terms }) => {
      const arena = new KernelArena('outerAdam', n, k, gap)
      const draw = () => arena.normal()
      const constants = arena.row([0.9, 0.1, 0.999, 0.001, 1e-3, 3, 1e-8])
      const placed = terms.map(
        ({ m, column = 0, width = k }: { m: number; column?: number; width?: number }) => ({
          ...{ m, column, width },
          a: arena.matrix(m, n, draw, gap),
          b: arena.matrix(m, width, draw, 2),
        }),
      )
      const pointer = arena.indices(
        placed.flatMap(({ m, a, b, column, width }) => [
          m,
          a.pointer,
          a.stride,
          b.pointer,
          b.stride,
          column,
          width,
        ]),
      )
      const [parameters, first] = [arena.matrix(n, k, draw), arena.matrix(n, k, draw)]
      const second = arena.matrix(n, k, () => arena.normal() ** 2)
      const gradient = arena.matrix(n, k, 0)
      const copies = [parameters, first, second].map((matrix) => {
        const values = arena.read(matrix).flat()
        let next = 0
        return arena.matrix(n, k, () => values[next++]!)
      })
      for (const { m, a, b, column, width } of placed) {
        const target = gradient.pointer + column * 4
        arena.kernels.outer(m, n, width, a.pointer, a.stride, b.pointer, b.stride, target, k)
      }
      const [p, f, s] = copies.map((copy) => copy.pointer) as [number, number, number]
      arena.kernels.adam(n * k, p, gradient.pointer, f, s, constants.pointer)

      const scratch = arena.uninitialised(8, k)
      const places = [parameters, first, second, scratch].map((matrix) => matrix.pointer)
      arena.run([parameters, first, second, scratch], (kernels) =>
        kernels.outerAdam(
          placed.length,
          pointer,
          n,
          k,
          ...(places as [number, number, number, number]),
          constants.pointer,
        ),
      )
      for (const [index, matrix] of [parameters, first, second].entries())
        expect(arena.read(matrix)).toEqual(arena.read(copies[index]!))
    },
  ))

test('largest is the largest magnitude, or NaN', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('largest', rows, columns)
    const x = arena.matrix(rows, columns, () => arena.normal(), 3)
    const ask = () => arena.kernels.largest(rows, columns, x.pointer, x.stride)
    expect(ask()).toBe(
      arena
        .read(x)
        .flat()
        .reduce((most, value) => Math.max(most, Math.abs(value)), 0),
    )
    for (const bad of [-1e38, Number.NEGATIVE_INFINITY, Number.NaN]) {
      const [row, column] = [arena.integer(0, rows - 1), arena.integer(0, columns - 1)]
      arena.write(x, row, column, bad)
      expect(ask(), `${bad} at ${row}, ${column}`).toBe(Math.abs(Math.fround(bad)))
    }
    expect(arena.kernels.largest(0, columns, x.pointer, x.stride)).toBe(0)
  }))
