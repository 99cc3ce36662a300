import { expect, test } from 'vitest'
import { columnCounts, forAll, KernelArena, type Matrix } from '../../../test/kernel-arena.ts'
import { expectClose, expectSums, sums, unitRoundoff as unit } from '../../../test/rounding.ts'
import { erf } from '../erf.ts'

const normalCdf = (x: number) => (1 + erf(x / Math.SQRT2)) / 2

test('gelu, with its slope or without', () =>
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

test('allFinite sees every entry and none beyond', () =>
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
    arena.run([parameters, gradients, first, second], (kernels) =>
      kernels.adam(
        n,
        parameters.pointer,
        gradients.pointer,
        first.pointer,
        second.pointer,
        0.9,
        0.1,
        0.999,
        0.001,
        stepSize,
        rootCorrection,
        1e-8,
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
