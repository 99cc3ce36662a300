import { expect, test } from 'vitest'
import { columnCounts, forAll, KernelArena, type Matrix } from '../../../test/kernel-arena.ts'
import { expectClose, expectSums, sums, unitRoundoff as unit } from '../../../test/rounding.ts'
import { erf } from '../erf.ts'

const normalCdf = (x: number) => (1 + erf(x / Math.SQRT2)) / 2

test('gelu, with and without its slope', () =>
  forAll(columnCounts, (n) => {
    const arena = new KernelArena('gelu', n)
    const x = arena.matrix(1, n, () => 3 * arena.normal())
    const [xs] = arena.read(x)
    const y = arena.uninitialised(1, n)
    const alone = arena.uninitialised(1, n)
    const slope = arena.uninitialised(1, n)
    arena.run([y, slope], (kernels) => kernels.gelu(n, x.pointer, y.pointer, slope.pointer))
    arena.run([alone], (kernels) => kernels.gelu(n, x.pointer, alone.pointer, 0))
    const expected = xs!.map((v) => v * normalCdf(v))
    const slopes = xs!.map((v) => normalCdf(v) + (v * Math.exp((-v * v) / 2)) / Math.sqrt(2 * Math.PI))
    expectClose('y', arena.read(y), [expected], (_, j) => 3 * unit * Math.abs(xs![j]!) + 1e-9)
    expectClose('slope', arena.read(slope), [slopes], (_, j) => 4 * unit * (1 + Math.abs(xs![j]!)))
    expect(arena.read(alone)).toEqual(arena.read(y))
  }))

test('gelu far from zero is 0 or the number itself', () => {
  const arena = new KernelArena('gelu far')
  const far = [-1e30, -1e4, -300, -40, -8, 8, 40, 300, 1e4, 1e30]
  const x = arena.row(far)
  const y = arena.uninitialised(1, far.length)
  const slope = arena.uninitialised(1, far.length)
  arena.run([y, slope], (kernels) => kernels.gelu(far.length, x.pointer, y.pointer, slope.pointer))
  const [ys] = arena.read(y)
  const [slopes] = arena.read(slope)
  for (const [index, value] of far.entries()) {
    expect(ys![index]! + 0, `gelu(${value})`).toBe(Math.max(0, Math.fround(value)))
    expect(slopes![index], `slope at ${value}`).toBeCloseTo(value < 0 ? 0 : 1, 6)
  }
})

test('multiplyAdd', () =>
  forAll(columnCounts, (n) => {
    const arena = new KernelArena('multiplyAdd', n)
    const [a, b, out] = [1, 2, 3].map(() => arena.matrix(1, n, () => arena.normal())) as [
      Matrix,
      Matrix,
      Matrix,
    ]
    const [[as], [bs], [before]] = [arena.read(a), arena.read(b), arena.read(out)]
    arena.run([out], (kernels) => kernels.multiplyAdd(n, a.pointer, b.pointer, out.pointer))
    const expected = sums(
      1,
      n,
      1,
      (_, j) => before![j]!,
      (_, j) => as![j]! * bs![j]!,
    )
    expectSums('out', arena.read(out), expected)
  }))
