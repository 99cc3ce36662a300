import { expect, test } from 'vitest'
import { assertParameters, type PlainTensor, parameterShapes } from './parameter-shapes.ts'

const paper = { semantic: 384, hidden: 256, maxUnits: 3, maxDepth: 4 }

test('the paper’s dimensions give the paper’s network', () => {
  const shapes = parameterShapes(paper)
  expect(shapes.size).toBe(44)
  expect(shapes.get('granularity_head.0.weight')).toEqual([256, 1408])
  expect(shapes.get('context_proj.weight')).toEqual([256, 642])
  expect(shapes.get('indegree_emb.weight')).toEqual([3, 256])
  const values = [...shapes.values()].map((shape) => shape.reduce((a, b) => a * b, 1))
  expect(values.reduce((a, b) => a + b)).toBe(2_336_261)
})

test('mismatched parameters are refused by name', () => {
  const small = { semantic: 2, hidden: 3, maxUnits: 2, maxDepth: 1 }
  const fitting = () =>
    new Map(
      [...parameterShapes(small)].map(([name, shape]): [string, PlainTensor] => [
        name,
        { shape, data: new Float64Array(shape.reduce((a, b) => a * b, 1)) },
      ]),
    )
  expect(() => assertParameters(fitting(), small)).not.toThrow()
  const missing = fitting()
  missing.delete('gru.bias_hh')
  expect(() => assertParameters(missing, small)).toThrow("'gru.bias_hh': it is missing")
  const extra = fitting().set('value_head.weight', { shape: [1], data: new Float64Array(1) })
  expect(() => assertParameters(extra, small)).toThrow("'value_head.weight': the network has no such tensor")
  const turned = fitting().set('semantic_proj.weight', { shape: [2, 3], data: new Float64Array(6) })
  expect(() => assertParameters(turned, small)).toThrow(
    "'semantic_proj.weight': its shape is [2,3], but [3,2]",
  )
  const short = fitting().set('empty_graph', { shape: [3], data: new Float64Array(2) })
  expect(() => assertParameters(short, small)).toThrow("'empty_graph': it has 2 values, but 3 are needed")
  expect(() => assertParameters(fitting(), { ...small, hidden: 4 })).toThrow('is needed')
})
