import { describe, expect, test } from 'vitest'
import { Workspace } from '../numerics/workspace.ts'
import { initializeParameters } from './initialization.ts'
import { parameterShapes } from './parameter-shapes.ts'
import { PolicyParameters } from './parameters.ts'

const dimensions = { semantic: 3, hidden: 5, maxUnits: 2, maxDepth: 4 }
const values = initializeParameters(dimensions, 1)
const place = (frozen = false) => new PolicyParameters(new Workspace(), dimensions, { frozen })

test('written values read back, tensor by tensor', () => {
  const parameters = place()
  parameters.write(values)
  expect(parameters.read()).toEqual(values)
  expect([...parameters.names]).toEqual([...parameterShapes(dimensions).keys()])
})

test('the tensors are contiguous and fill the block', () => {
  const parameters = place()
  parameters.write(values)
  const { workspace, block } = parameters
  expect([...workspace.values(block)]).toEqual([...values.values()].flatMap(({ data }) => Array.from(data)))
  // A gradient sits at the same place in its block as its weight.
  for (const name of parameters.names) {
    const tensor = parameters.tensor(name)
    expect(tensor.gradient - block.gradient).toBe(tensor.data - block.data)
    expect(tensor.columns).toBe(parameterShapes(dimensions).get(name)!.at(-1))
  }
  workspace.gradients(parameters.tensor('empty_graph')).fill(3)
  const gradients = parameters.readGradients()
  expect([...gradients.get('empty_graph')!.data]).toEqual([3, 3, 3, 3, 3])
  const sum = [...gradients.values()].flatMap(({ data }) => [...data]).reduce((total, value) => total + value)
  expect(sum).toBe(15)
})

test('copies are independent', () => {
  const parameters = place()
  parameters.write(values)
  parameters.read().get('empty_graph')!.data.fill(9)
  expect(parameters.read()).toEqual(values)
})

test('frozen parameters have no gradients', () => {
  const parameters = place(true)
  expect(parameters.block.gradient).toBe(0)
  for (const name of parameters.names) expect(parameters.tensor(name).gradient).toBe(0)
})

test('the version increases with every change', () => {
  const parameters = place()
  const seen = [parameters.version]
  parameters.write(values)
  seen.push(parameters.version)
  parameters.markChanged()
  seen.push(parameters.version)
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  parameters.read()
  expect(parameters.version).toBe(seen.at(-1))
})

test('matrices and the rest partition the block', () => {
  const parameters = place()
  const { matrices, others } = parameters.parts
  const counts = new Int32Array(parameters.block.columns)
  for (const { data, rows, columns, stride } of [...matrices, ...others]) {
    const start = (data - parameters.block.data) / 4
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1) counts[start + row * stride + column]! += 1
  }
  expect(counts.every((count) => count === 1)).toBe(true)
  expect(matrices).toContain(parameters.tensor('gru.weight_ih'))
  for (const name of ['position_emb.weight', 'node_norm.weight', 'gru.bias_ih', 'empty_graph'])
    expect(others).toContain(parameters.tensor(name))
})

describe('values that do not match the network are refused and change nothing', () => {
  const refuse = (
    change: (tensors: Map<string, { shape: readonly number[]; data: ArrayLike<number> }>) => void,
  ) => {
    const parameters = place()
    parameters.write(values)
    const { version } = parameters
    const changed = new Map(values)
    change(changed)
    let message = ''
    try {
      parameters.write(changed)
    } catch (error) {
      message = (error as Error).message
    }
    expect(parameters.read()).toEqual(values)
    expect(parameters.version).toBe(version)
    return message
  }

  test('a missing tensor', () => {
    expect(refuse((tensors) => tensors.delete('gru.bias_hh'))).toBe(
      "Policy parameter 'gru.bias_hh': it is missing.",
    )
  })

  test('an unknown tensor', () => {
    expect(refuse((tensors) => tensors.set('extra', { shape: [1], data: [0] }))).toContain(
      "'extra': the network has no such tensor",
    )
  })

  test('another shape', () => {
    const transposed = { shape: [3, 5], data: new Float32Array(15) }
    expect(refuse((tensors) => tensors.set('semantic_proj.weight', transposed))).toContain(
      'its shape is [3,5], but [5,3] is needed',
    )
  })

  test('too few values', () => {
    const short = { shape: [5], data: new Float32Array(4) }
    expect(refuse((tensors) => tensors.set('empty_graph', short))).toContain(
      'it has 4 values, but 5 are needed',
    )
  })
})
