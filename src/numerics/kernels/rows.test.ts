import { expect, test } from 'vitest'
import { forAll, KernelArena, sizes } from '../../../test/kernel-arena.ts'
import { expectClose, expectSums, Sum, sums } from '../../../test/rounding.ts'

test('gatherAdd and scatterAdd', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('gather', rows, columns)
    const draw = () => arena.normal()
    const table = arena.matrix(5, columns, draw)
    const list = arena.rowNumbers(rows, 5)
    const index = arena.indices(list)
    const out = arena.matrix(rows, columns, draw)
    const [tables, outs] = [arena.read(table), arena.read(out)]
    arena.run([out], (kernels) => kernels.gatherAdd(rows, columns, table.pointer, index, out.pointer))
    const gathered = sums(
      rows,
      columns,
      1,
      (p, c) => outs[p]![c]!,
      (p, c) => tables[list[p]!]![c]!,
    )
    expectSums('out', arena.read(out), gathered)

    const sources = arena.read(out)
    arena.run([table], (kernels) => kernels.scatterAdd(rows, columns, out.pointer, index, table.pointer))
    const scattered = sums(
      5,
      columns,
      rows,
      (r, c) => tables[r]![c]!,
      (r, c, p) => (list[p] === r ? sources[p]![c]! : 0),
    )
    expectSums('table', arena.read(table), scattered)
  }))

test('meanRows and its gradient', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('mean', rows, columns)
    const draw = () => arena.normal()
    const source = arena.matrix(9, columns, draw)
    const lists = ragged(arena, rows, 9)
    const out = arena.uninitialised(rows, columns)
    const sources = arena.read(source)
    arena.run([out], (kernels) =>
      kernels.meanRows(rows, columns, source.pointer, lists.offsets, lists.members, out.pointer),
    )
    const expected = lists.rows.map((list) =>
      Array.from({ length: columns }, (_, c) => {
        const sum = new Sum()
        for (const row of list) sum.add(sources[row]![c]! / list.length)
        return sum
      }),
    )
    expectSums('out', arena.read(out), expected)

    const dout = arena.matrix(rows, columns, draw)
    const [douts, starts] = [arena.read(dout), arena.read(source)]
    arena.run([source], (kernels) =>
      kernels.meanRowsGradient(rows, columns, dout.pointer, lists.offsets, lists.members, source.pointer),
    )
    const back = starts.map((row) => row.map((value) => new Sum(value)))
    for (const [p, list] of lists.rows.entries())
      for (const row of list)
        for (let c = 0; c < columns; c += 1) back[row]![c]!.add(douts[p]![c]! / list.length)
    expectSums('dsource', arena.read(source), back)
  }))

test('multiplyRows, dotRows and their gradients', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('pairs', rows, columns)
    const draw = () => arena.normal()
    const [a, b] = [arena.matrix(4, columns, draw), arena.matrix(6, columns, draw)]
    const [aList, bList] = [arena.rowNumbers(rows, 4), arena.rowNumbers(rows, 6)]
    const [aIndex, bIndex] = [arena.indices(aList), arena.indices(bList)]
    const pairs = [rows, columns, a.pointer, aIndex, b.pointer, bIndex] as const
    const [as, bs] = [arena.read(a), arena.read(b)]
    const product = arena.uninitialised(rows, columns)
    arena.run([product], (kernels) => kernels.multiplyRows(...pairs, product.pointer))
    const entry = (p: number, c: number) => as[aList[p]!]![c]! * bs[bList[p]!]![c]!
    expectSums(
      'multiplyRows',
      arena.read(product),
      sums(rows, columns, 1, () => 0, entry),
    )
    const dot = arena.matrix(rows, 1, draw)
    const dots = arena.read(dot)
    arena.run([dot], (kernels) => kernels.dotRows(...pairs, dot.pointer))
    expectSums(
      'dotRows',
      arena.read(dot),
      sums(
        rows,
        1,
        columns,
        (p) => dots[p]![0]!,
        (p, _, c) => entry(p, c),
      ),
    )

    for (const width of [columns, 1]) {
      const dout = arena.matrix(rows, width, draw)
      const [da, db] = [arena.matrix(4, columns, draw), arena.matrix(6, columns, draw)]
      const [gs, das, dbs] = [arena.read(dout), arena.read(da), arena.read(db)]
      const name = width === columns ? 'multiplyRowsGradient' : 'dotRowsGradient'
      arena.run([da, db], (kernels) => kernels[name](...pairs, dout.pointer, da.pointer, db.pointer))
      const g = (p: number, c: number) => gs[p]![width === columns ? c : 0]!
      const back = (start: number[][], own: number[], other: number[][], others: number[]) =>
        sums(
          start.length,
          columns,
          rows,
          (row, c) => start[row]![c]!,
          (row, c, p) => (own[p] === row ? g(p, c) * other[others[p]!]![c]! : 0),
        )
      expectSums(`${name} a`, arena.read(da), back(das, aList, bs, bList))
      expectSums(`${name} b`, arena.read(db), back(dbs, bList, as, aList))
      if (columns === 1) break
    }
  }))

test('attentionPool and its gradient', () =>
  forAll(sizes, ({ rows, columns }) => {
    const arena = new KernelArena('attention', rows, columns)
    const draw = () => arena.normal()
    const states = arena.matrix(8, columns, draw)
    const keys = arena.matrix(3, columns, draw)
    const lists = ragged(arena, rows, 8)
    const keyList = arena.rowNumbers(rows, 3)
    const scale = 1 / Math.sqrt(columns)
    const weights = arena.uninitialised(1, lists.total)
    const out = arena.matrix(rows, columns, draw)
    const [hs, ks, before] = [arena.read(states), arena.read(keys), arena.read(out)]
    const operands = [
      rows,
      columns,
      states.pointer,
      lists.offsets,
      lists.members,
      keys.pointer,
      arena.indices(keyList),
      scale,
      weights.pointer,
    ] as const
    arena.run([weights, out], (kernels) => kernels.attentionPool(...operands, out.pointer))
    const dotOf = (x: readonly number[], y: readonly number[]) =>
      x.reduce((sum, value, c) => sum + value * y[c]!, 0)
    const softmax = lists.rows.map((list, d) => {
      const scores = list.map((row) => Math.exp(scale * dotOf(hs[row]!, ks[keyList[d]!]!)))
      const total = scores.reduce((sum, score) => sum + score, 0)
      return scores.map((score) => score / total)
    })
    const pooled = lists.rows.map((list, d) =>
      list.length === 0
        ? before[d]!
        : hs[0]!.map((_, c) => list.reduce((sum, row, q) => sum + softmax[d]![q]! * hs[row]![c]!, 0)),
    )
    expectClose('weights', arena.read(weights), [softmax.flat()], () => 1e-5)
    expectClose('out', arena.read(out), pooled, () => 2e-5)

    const dout = arena.matrix(rows, columns, draw)
    const [dstates, dkeys] = [arena.matrix(8, columns, draw), arena.matrix(3, columns, draw)]
    const [gs, dhs, dks] = [arena.read(dout), arena.read(dstates), arena.read(dkeys)]
    arena.run([dstates, dkeys], (kernels) =>
      kernels.attentionPoolGradient(...operands, dout.pointer, dstates.pointer, dkeys.pointer),
    )
    for (const [d, list] of lists.rows.entries()) {
      const key = keyList[d]!
      const slopes = list.map((row) => dotOf(gs[d]!, hs[row]!))
      const mean = slopes.reduce((sum, slope, q) => sum + slope * softmax[d]![q]!, 0)
      for (const [q, row] of list.entries()) {
        const weight = softmax[d]![q]!
        const score = scale * weight * (slopes[q]! - mean)
        for (let c = 0; c < columns; c += 1) {
          dhs[row]![c]! += weight * gs[d]![c]! + score * ks[key]![c]!
          dks[key]![c]! += score * hs[row]![c]!
        }
      }
    }
    expectClose('dstates', arena.read(dstates), dhs, () => 1e-4 * rows)
    expectClose('dkeys', arena.read(dkeys), dks, () => 1e-4 * rows)
  }))

test('attention over scores far apart is finite and sums to one', () => {
  const arena = new KernelArena('attention far')
  const states = { ...arena.row([300, -300, 299]), rows: 3, columns: 1, stride: 1 }
  const keys = arena.matrix(1, 1, 100)
  const weights = arena.uninitialised(1, 3)
  const out = arena.uninitialised(1, 1)
  const [offsets, members, keyIndex] = [arena.indices([0, 3]), arena.indices([0, 1, 2]), arena.indices([0])]
  arena.run([weights, out], (kernels) =>
    kernels.attentionPool(
      1,
      1,
      states.pointer,
      offsets,
      members,
      keys.pointer,
      keyIndex,
      1,
      weights.pointer,
      out.pointer,
    ),
  )
  expectClose('out', arena.read(out), [[300]], () => 1e-4)
  expect(arena.read(weights)[0]!.reduce((sum, weight) => sum + weight)).toBeCloseTo(1, 6)
})

/** Lists of row numbers, some empty. */
function ragged(arena: KernelArena, count: number, rows: number) {
  const lists = Array.from({ length: count }, () => arena.rowNumbers(arena.integer(0, 4), rows))
  const offsets = [0]
  for (const list of lists) offsets.push(offsets.at(-1)! + list.length)
  const members = lists.flat()
  return {
    rows: lists,
    total: members.length,
    offsets: arena.indices(offsets),
    members: arena.indices(members),
  }
}
