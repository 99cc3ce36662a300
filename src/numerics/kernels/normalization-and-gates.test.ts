import { test } from 'vitest'
import { forAll, KernelArena, sizes } from '../../../test/kernel-arena.ts'
import { expectClose, unitRoundoff as unit } from '../../../test/rounding.ts'

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

test('layerNorm keeps the precision of nearly equal values', () => {
  const columns = 10
  const arena = new KernelArena('nearly equal', columns)
  const x = arena.matrix(20, columns, () => 0.7 + 1e-4 * arena.normal())
  const [weight, bias] = [arena.matrix(1, columns, () => 1), arena.matrix(1, columns, () => 0)]
  const y = arena.uninitialised(20, columns)
  const stats = arena.uninitialised(20, 3)
  arena.run([y, stats], (kernels) =>
    kernels.layerNorm(20, columns, x.pointer, weight.pointer, bias.pointer, y.pointer, stats.pointer),
  )
  const expected = arena.read(x).map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / columns
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns
    return row.map((value) => (value - mean) / Math.sqrt(variance + 1e-5))
  })
  // Rounding the mean to a float would be off by 3e-8, and the result by 1e-5.
  expectClose('y', arena.read(y), expected, () => 2e-7)
})

test('layerNorm and its gradient', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('layerNorm', rows, columns)
    const draw = () => arena.normal()
    const x = arena.matrix(rows, columns, () => 2 * arena.normal() + 1)
    const [weight, bias] = [arena.matrix(1, columns, draw), arena.matrix(1, columns, draw)]
    const y = arena.uninitialised(rows, columns)
    const stats = arena.uninitialised(rows, 3)
    arena.run([y, stats], (kernels) =>
      kernels.layerNorm(rows, columns, x.pointer, weight.pointer, bias.pointer, y.pointer, stats.pointer),
    )
    const [xs, [ws], [bs]] = [arena.read(x), arena.read(weight), arena.read(bias)]
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / columns
    const moments = xs.map((row) => {
      const center = mean(row)
      return [center, 1 / Math.sqrt(mean(row.map((value) => (value - center) ** 2)) + 1e-5)] as const
    })
    // A deviation near zero magnifies the rounding of the mean, so the tolerance grows with its reciprocal.
    const blur = (i: number) =>
      4 * (columns + 4) * unit * moments[i]![1] * Math.max(...xs[i]!.map(Math.abs)) + 4 * unit
    const normal = xs.map((row, i) => row.map((value) => (value - moments[i]![0]) * moments[i]![1]))
    const scale = 1 + Math.max(...ws!.map(Math.abs)) + Math.max(...bs!.map(Math.abs))
    expectClose(
      'y',
      arena.read(y),
      normal.map((row) => row.map((value, j) => value * ws![j]! + bs![j]!)),
      (i) => blur(i) * scale * 4,
    )
    expectClose(
      'stats',
      arena.read(stats).map(([center, rest, reciprocal]) => [center! + rest!, reciprocal!]),
      moments.map((pair) => [...pair]),
      (i, j) => (j === 0 ? 1 : moments[i]![1]) * (blur(i) + 1e-6),
    )

    const dy = arena.matrix(rows, columns, draw)
    const dx = arena.matrix(rows, columns, draw)
    const dweight = arena.matrix(1, columns, draw)
    const dbias = arena.matrix(1, columns, draw)
    const [gs, dxs, [dws], [dbs]] = [dy, dx, dweight, dbias].map((m) => arena.read(m)) as [
      number[][],
      number[][],
      number[][],
      number[][],
    ]
    arena.run([dx, dweight, dbias], (kernels) =>
      kernels.layerNormGradient(
        rows,
        columns,
        x.pointer,
        weight.pointer,
        stats.pointer,
        dy.pointer,
        dx.pointer,
        dweight.pointer,
        dbias.pointer,
      ),
    )
    const inner = gs.map((row) => row.map((g, j) => g * ws![j]!))
    const expected = inner.map((row, i) => {
      const a = mean(row)
      const b = mean(row.map((d, j) => d * normal[i]![j]!))
      return row.map((d, j) => dxs[i]![j]! + moments[i]![1] * (d - a - normal[i]![j]! * b))
    })
    const size = (i: number) => 1 + Math.max(...inner[i]!.map(Math.abs))
    expectClose('dx', arena.read(dx), expected, (i) => 40 * blur(i) * size(i) * (1 + moments[i]![1]))
    const total = (j: number, start: number, term: (i: number) => number) =>
      gs.reduce((sum, _, i) => sum + term(i), start + 0 * j)
    const spread = rows * 20 * Math.max(...gs.map((_, i) => blur(i) * size(i)))
    const columnsOf = (value: (j: number) => number) => [Array.from({ length: columns }, (_, j) => value(j))]
    expectClose(
      'dweight',
      arena.read(dweight),
      columnsOf((j) => total(j, dws![j]!, (i) => gs[i]![j]! * normal[i]![j]!)),
      () => spread,
    )
    expectClose(
      'dbias',
      arena.read(dbias),
      columnsOf((j) => total(j, dbs![j]!, (i) => gs[i]![j]!)),
      () => spread,
    )
  }))

test('gruGates and its gradient, with and without a previous state', () =>
  forAll(
    sizes.flatMap((size) => [
      { ...size, state: 'a state' },
      { ...size, state: 'no state' },
    ]),
    ({ rows, columns, state }) => {
      const arena = new KernelArena('gru', rows, columns, state)
      const draw = () => 2 * arena.normal()
      const gi = arena.matrix(rows, 3 * columns, draw)
      const gh = arena.matrix(rows, 3 * columns, draw)
      const previous = state === 'a state' ? arena.matrix(rows, columns, () => arena.normal()) : undefined
      const u = arena.uninitialised(rows, columns)
      const gates = arena.uninitialised(rows, 3 * columns)
      arena.run([u, gates], (kernels) =>
        kernels.gruGates(
          rows,
          columns,
          gi.pointer,
          gh.pointer,
          previous?.pointer ?? 0,
          u.pointer,
          gates.pointer,
        ),
      )
      const [is, hs] = [arena.read(gi), arena.read(gh)]
      const before = previous ? arena.read(previous) : is.map(() => new Array<number>(columns).fill(0))
      const cell = is.map((row, i) =>
        Array.from({ length: columns }, (_, j) => {
          const r = sigmoid(row[j]! + hs[i]![j]!)
          const z = sigmoid(row[columns + j]! + hs[i]![columns + j]!)
          const n = Math.tanh(row[2 * columns + j]! + r * hs[i]![2 * columns + j]!)
          return { r, z, n, u: (1 - z) * n + z * before[i]![j]! }
        }),
      )
      const near = () => 2e-6
      expectClose(
        'u',
        arena.read(u),
        cell.map((row) => row.map((entry) => entry.u)),
        near,
      )
      expectClose(
        'gates',
        arena.read(gates),
        cell.map((row) => [...row.map(({ r }) => r), ...row.map(({ z }) => z), ...row.map(({ n }) => n)]),
        near,
      )

      const du = arena.matrix(rows, columns, draw)
      const dgi = arena.matrix(rows, 3 * columns, draw)
      const dgh = arena.matrix(rows, 3 * columns, draw)
      const dprevious = previous && arena.matrix(rows, columns, draw)
      const [gs, dis, dhs] = [arena.read(du), arena.read(dgi), arena.read(dgh)]
      const dps = dprevious && arena.read(dprevious)
      arena.run([dgi, dgh, ...(dprevious ? [dprevious] : [])], (kernels) =>
        kernels.gruGatesGradient(
          rows,
          columns,
          gh.pointer,
          previous?.pointer ?? 0,
          gates.pointer,
          du.pointer,
          dgi.pointer,
          dgh.pointer,
          dprevious?.pointer ?? 0,
        ),
      )
      const slopes = cell.map((row, i) =>
        row.map(({ r, z, n }, j) => {
          const dz = gs[i]![j]! * (before[i]![j]! - n) * z * (1 - z)
          const dn = gs[i]![j]! * (1 - z) * (1 - n * n)
          return { dr: dn * hs[i]![2 * columns + j]! * r * (1 - r), dz, dn, dnh: dn * r, dp: gs[i]![j]! * z }
        }),
      )
      const three = (start: number[][], third: 'dn' | 'dnh') =>
        slopes.map((row, i) =>
          (['dr', 'dz', third] as const).flatMap((gate, index) =>
            row.map((slope, j) => start[i]![index * columns + j]! + slope[gate]),
          ),
        )
      expectClose('dgi', arena.read(dgi), three(dis, 'dn'), () => 5e-5)
      expectClose('dgh', arena.read(dgh), three(dhs, 'dnh'), () => 5e-5)
      if (dprevious) {
        expectClose(
          'dprevious',
          arena.read(dprevious),
          slopes.map((row, i) => row.map(({ dp }, j) => dps![i]![j]! + dp)),
          () => 2e-5,
        )
      }
    },
  ))

test('the gates saturate without overflow', () => {
  const arena = new KernelArena('gru saturated')
  const extremes = [-1e30, -1e4, -100, 0, 100, 1e4, 1e30]
  const gi = arena.row([...extremes, ...extremes, ...extremes])
  const gh = arena.matrix(1, 21, 0)
  const previous = arena.matrix(1, 7, 0.5)
  const u = arena.uninitialised(1, 7)
  const gates = arena.uninitialised(1, 21)
  arena.run([u, gates], (kernels) =>
    kernels.gruGates(1, 7, gi.pointer, gh.pointer, previous.pointer, u.pointer, gates.pointer),
  )
  const expected = extremes.map((x) => (1 - sigmoid(x)) * Math.tanh(x) + sigmoid(x) * 0.5)
  expectClose('u', arena.read(u), [expected], () => 1e-6)
})
