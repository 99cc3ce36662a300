import { expect, test } from 'vitest'
import { expectClose } from '../../test/rounding.ts'
import { Adam, type AdamSettings, paperAdam } from './adam.ts'
import { adamStep, freshAdam, type PlainAdamState } from './plain/adam.ts'
import { deriveRandom } from './random.ts'
import { type Tensor, Workspace } from './workspace.ts'

/** Settings with visibly large steps. */
const quick: AdamSettings = { learningRate: 0.05, beta1: 0.8, beta2: 0.95, epsilon: 1e-6 }

function drawer(name: string): (count: number) => Float32Array {
  const random = deriveRandom(1, 'adam', name)
  return (count) => Float32Array.from({ length: count }, () => random.normal())
}

function placeBlock(workspace: Workspace, values: Float32Array): Tensor {
  return { ...workspace.constant(values, 1, values.length), gradient: workspace.zeros(values.length) }
}

/** A tensor for the plain optimizer. */
const named = (values: ArrayLike<number>) => new Map([['block', Float64Array.from(values)]])

test.each([
  { name: 'the paper’s settings', settings: paperAdam },
  { name: 'quick ones', settings: quick },
])('with $name it follows the plain optimizer over many steps', ({ settings }) => {
  const size = 23
  const draw = drawer('follows')
  const workspace = new Workspace()
  const block = placeBlock(workspace, draw(size))
  const adam = new Adam(workspace, block, settings)
  let weights: Map<string, Float64Array> = named(workspace.values(block))
  let state: PlainAdamState = freshAdam
  for (let step = 0; step < 40; step += 1) {
    // Only the first steps reach entry 3: after that its moments decay and still move it.
    const gradient = draw(size).map((value, index) => (index === 3 && step >= 2 ? 0 : value))
    workspace.gradients(block).set(gradient)
    adam.step()
    ;[weights, state] = adamStep(weights, named(gradient), state, settings)
  }
  const read = adam.read()
  expect(read.step).toBe(40)
  const close = (what: string, got: Float32Array, wanted: Float64Array, absolute: number) =>
    expectClose(what, [[...got]], [[...wanted]], (_, j) => absolute + 1e-5 * Math.abs(wanted[j]!))
  close('weights', workspace.values(block), weights.get('block')!, 2e-6)
  close('first moment', read.first, state.first.get('block')!, 1e-6)
  close('second moment', read.second, state.second.get('block')!, 1e-6)
})

test('gradients are zero after a step, and only the block changes', () => {
  const workspace = new Workspace()
  const before = workspace.constant([1, 2, 3], 1, 3)
  const block = placeBlock(workspace, Float32Array.of(1, -1, 0.5, 2, 7))
  const adam = new Adam(workspace, block)
  const after = workspace.constant([4, 5, 6], 1, 3)
  workspace.gradients(block).set([1, -1, 0.001, 0, 100])
  adam.step()
  expect([...workspace.gradients(block)]).toEqual([0, 0, 0, 0, 0])
  expect([...workspace.values(before), ...workspace.values(after)]).toEqual([1, 2, 3, 4, 5, 6])
  const [up, down, small, none, large] = workspace.values(block)
  // The first step has the size of the learning rate, whatever the gradient.
  expect(up).toBeCloseTo(1 - 1e-4, 6)
  expect(down).toBeCloseTo(-1 + 1e-4, 6)
  expect(small).toBeCloseTo(0.5 - 1e-4, 6)
  expect(none).toBe(2)
  expect(large).toBeCloseTo(7 - 1e-4, 6)
})

test('its state, copied into another, continues identically', () => {
  const size = 11
  const draw = drawer('continues')
  const [start, ...gradients] = Array.from({ length: 13 }, () => draw(size))
  const run = (resumeAt: number) => {
    const workspace = new Workspace()
    const block = placeBlock(workspace, start!)
    let adam = new Adam(workspace, block, quick)
    for (const [index, gradient] of gradients.entries()) {
      if (index === resumeAt) {
        const state = structuredClone(adam.read())
        adam = new Adam(workspace, block, quick)
        adam.write(state)
      }
      workspace.gradients(block).set(gradient)
      adam.step()
    }
    return { ...adam.read(), weights: workspace.values(block).slice() }
  }
  const undisturbed = run(-1)
  for (const resumeAt of [0, 1, 7, 11]) expect(run(resumeAt)).toEqual(undisturbed)
})

test('a read state is a copy', () => {
  const workspace = new Workspace()
  const block = placeBlock(workspace, Float32Array.of(1, 2))
  const adam = new Adam(workspace, block, quick)
  const fresh = adam.read()
  workspace.gradients(block).fill(1)
  adam.step()
  expect(fresh).toEqual({ step: 0, first: new Float32Array(2), second: new Float32Array(2) })
})

test('bias corrections are right after thousands of steps', () => {
  const workspace = new Workspace()
  const block = placeBlock(workspace, Float32Array.of(0))
  const adam = new Adam(workspace, block, paperAdam)
  for (const step of [0, 1, 2, 998, 4095, 100_000]) {
    adam.write({ step, first: Float32Array.of(0.5), second: Float32Array.of(0.25) })
    workspace.values(block)[0] = 0
    adam.step()
    // A zero gradient: m = 0.45, v = 0.24975.
    const mean = 0.45 / (1 - 0.9 ** (step + 1))
    const root = Math.sqrt(0.24975 / (1 - 0.999 ** (step + 1)))
    expect(workspace.values(block)[0]! / ((-1e-4 * mean) / root), `step ${step}`).toBeCloseTo(1, 6)
  }
})

test('moments of another size are refused', () => {
  const workspace = new Workspace()
  const adam = new Adam(workspace, placeBlock(workspace, Float32Array.of(1, 2)))
  const moments = { first: new Float32Array(2), second: new Float32Array(2) }
  expect(() => adam.write({ step: 1, ...moments, first: new Float32Array(1) })).toThrow('1 and 2 entries')
  expect(() => adam.write({ step: 1, ...moments, second: new Float32Array(3) })).toThrow('do not fit 2')
  expect(adam.read().step).toBe(0)
})
