import { expect, test } from 'vitest'
import { Tape } from './tape.ts'
import { type Tensor, Workspace } from './workspace.ts'

/** y = x·wᵀ with gradient `dy` on y; columns not a multiple of four, rows not a multiple of eight. */
function pass(x: number, dy: number) {
  const workspace = new Workspace()
  const tape = new Tape(workspace, { recording: true })
  const weight: Tensor = {
    ...workspace.constant(new Float32Array(9 * 5).fill(0.5), 9, 5),
    gradient: workspace.zeros(45),
  }
  const y = tape.linear(workspace.constant(new Float32Array(15).fill(x), 3, 5), weight)
  workspace.gradients(y).fill(dy)
  return { workspace, weight, gradients: tape.propagate() }
}

test('gradients are written only on request', () => {
  const { workspace, weight, gradients } = pass(2, 3)
  expect(gradients.terms(weight).count).toBe(1)
  expect(workspace.gradients(weight).every((value) => value === 0)).toBe(true)
  gradients.write()
  // Three rows of 2 · 3.
  expect(workspace.gradients(weight).every((value) => value === 18)).toBe(true)
  expect(gradients.terms(weight).count).toBe(0)
})

test.each([
  [2, 3, true],
  [1e18, 1e18, true],
  // Finite factors with an infinite product.
  [1e20, 1e20, false],
  [Number.NaN, 1, false],
  [1, Number.NaN, false],
  [Number.POSITIVE_INFINITY, 0, false],
  [0, Number.NEGATIVE_INFINITY, false],
])('factors of %d and %d are surely finite: %s', (x, dy, finite) => {
  expect(pass(x, dy).gradients.surelyFinite()).toBe(finite)
})
