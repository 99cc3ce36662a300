import { expect, test } from 'vitest'
import { columnsOf, rowsOf, Workspace } from './workspace.ts'

test('allocations are aligned, disjoint, and never at address 0, which means absent', () => {
  const workspace = new Workspace()
  let end = 1
  for (const count of [1, 3, 4, 5, 0, 17, 1]) {
    const pointer = workspace.allocate(count)
    expect(pointer % 16).toBe(0)
    expect(pointer).toBeGreaterThanOrEqual(end)
    end = pointer + count * 4
  }
  expect(workspace.mark()).toBeGreaterThanOrEqual(end)
})

test('released memory is reused, and zeros are cleared', () => {
  const workspace = new Workspace()
  const kept = workspace.constant([1, 2, 3], 1, 3)
  const mark = workspace.mark()
  const scratch = workspace.constant(new Float32Array(50).fill(7), 5, 10)
  workspace.release(mark)
  expect(workspace.zeros(50)).toBe(scratch.data)
  expect(workspace.values(scratch).every((value) => value === 0)).toBe(true)
  expect([...workspace.values(kept)]).toEqual([1, 2, 3])
})

test('growing keeps every value', () => {
  const workspace = new Workspace()
  const first = workspace.constant(
    Float32Array.from({ length: 1000 }, (_, index) => index),
    10,
    100,
  )
  const list = workspace.indices([5, 4, 3])
  const before = workspace.kernels.memory.buffer.byteLength
  const large = workspace.constant(new Float32Array(3 << 20).fill(0.5), 3, 1 << 20)
  expect(workspace.kernels.memory.buffer.byteLength).toBeGreaterThan(before)
  expect([...workspace.values(first)]).toEqual(Array.from({ length: 1000 }, (_, index) => index))
  expect([...new Int32Array(workspace.kernels.memory.buffer, list, 3)]).toEqual([5, 4, 3])
  expect(workspace.values(large).at(-1)).toBe(0.5)
})

test('an allocation beyond the address range is refused and changes nothing', () => {
  const workspace = new Workspace()
  const mark = workspace.mark()
  expect(() => workspace.allocate(2 ** 29)).toThrow('2 GiB')
  expect(workspace.mark()).toBe(mark)
  expect([...workspace.values(workspace.constant([1, 2], 1, 2))]).toEqual([1, 2])
})

test('views cover parts of a tensor and its gradient', () => {
  const workspace = new Workspace()
  const values = workspace.constant(
    Float32Array.from({ length: 12 }, (_, index) => index),
    3,
    4,
  )
  const tensor = { ...values, gradient: workspace.zeros(12) }
  expect([...workspace.values(rowsOf(tensor, 1, 2))]).toEqual([4, 5, 6, 7, 8, 9, 10, 11])
  const part = columnsOf(rowsOf(tensor, 1, 2), 2, 2)
  expect(part).toEqual({
    data: tensor.data + 6 * 4,
    gradient: tensor.gradient + 6 * 4,
    rows: 2,
    columns: 2,
    stride: 4,
  })
  // A view of a tensor without a gradient has none either.
  expect(columnsOf(values, 2, 2).gradient).toBe(0)
  expect(rowsOf(values, 1, 1).gradient).toBe(0)
})
