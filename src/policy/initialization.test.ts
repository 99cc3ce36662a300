import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { initializeParameters } from './initialization.ts'
import { assertParameters, parameterShapes } from './parameter-shapes.ts'

const dimensions = { semantic: 48, hidden: 40, maxUnits: 3, maxDepth: 4 }

function draw(
  seed: number,
  sizes = dimensions,
): ReadonlyMap<string, { shape: readonly number[]; data: number[] }> {
  return new Map(
    [...initializeParameters(sizes, seed)].map(([name, { shape, data }]) => [
      name,
      { shape, data: Array.from(data) },
    ]),
  )
}

/**
 * What PyTorch's constructors draw per layer: the bound of a uniform, the deviation of a normal, or
 * constants.
 */
function expectedDraw(name: string): { uniform: number } | { normal: number } | { constant: number } {
  const { semantic: S, hidden: H } = dimensions
  const fanIn: Record<string, number> = {
    semantic_proj: S,
    input_proj: H,
    predecessor_proj: H,
    query_proj: S,
    gru: H,
    pool_key: H,
    pool_query: S,
    graph_proj: H + S,
    context_proj: H + S + 2,
    'role_head.0': H + S,
    'role_head.2': H,
    'stop_head.0': H,
    'stop_head.2': H,
    'granularity_head.0': H + 3 * S,
    'granularity_head.2': H,
    edge_query: H + 2 * S,
    edge_key: H,
    'edge_mlp.0': 3 * H,
    'edge_mlp.2': H,
  }
  if (name === 'empty_graph') return { normal: 0.02 }
  if (name.includes('_emb')) return { normal: 1 }
  if (name.includes('_norm')) return { constant: name.endsWith('weight') ? 1 : 0 }
  const inputs = fanIn[name.replace(/\.(weight|bias)(_ih|_hh)?$/, '')]
  expect(inputs, name).toBeDefined()
  return { uniform: 1 / Math.sqrt(inputs!) }
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Several seeds combined, so that small tensors have enough samples. */
const seeds = Array.from({ length: 12 }, (_, seed) => draw(seed))

test('draws every tensor of the network in its shape', () => {
  expect(() => assertParameters(initializeParameters(dimensions, 1), dimensions)).not.toThrow()
})

test.each([...parameterShapes(dimensions).keys()])('%s is distributed like PyTorch’s default', (name) => {
  const values = seeds.flatMap((seed) => seed.get(name)!.data)
  const expected = expectedDraw(name)
  if ('constant' in expected) {
    expect(new Set(values)).toEqual(new Set([expected.constant]))
    return
  }
  const uniform = 'uniform' in expected
  const deviation = uniform ? expected.uniform / Math.sqrt(3) : expected.normal
  expect(Math.abs(meanOf(values))).toBeLessThan((4 * deviation) / Math.sqrt(values.length))
  const variance = meanOf(values.map((value) => value ** 2))
  // The deviation of x² over its mean: √(4/5) for a uniform, √2 for a normal.
  const spread = Math.sqrt(uniform ? 4 / 5 : 2)
  expect(Math.abs(variance / deviation ** 2 - 1)).toBeLessThan((4 * spread) / Math.sqrt(values.length))
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (uniform) {
    expect(largest).toBeLessThanOrEqual(Math.fround(expected.uniform))
    expect(largest).toBeGreaterThan(0.85 * expected.uniform)
  } else {
    expect(largest).toBeGreaterThan(2 * deviation)
  }
})

test('tensors, rows and seeds have separate draws', () => {
  const tensors = draw(3)
  const first = (name: string) => tensors.get(name)!.data.slice(0, 40)
  expect(first('input_proj.weight')).not.toEqual(first('predecessor_proj.weight'))
  expect(first('indegree_emb.weight')).not.toEqual(first('outdegree_emb.weight'))
  const rows = tensors.get('input_proj.weight')!.data
  expect(rows.slice(0, 40)).not.toEqual(rows.slice(40, 80))
  expect(draw(3)).toEqual(tensors)
  expect(draw(4).get('empty_graph')).not.toEqual(tensors.get('empty_graph'))
})

test('the draw of a seed is the same on every machine', () => {
  const digest = createHash('sha256')
  for (const [name, { shape, data }] of initializeParameters(dimensions, 7)) {
    digest.update(`${name} ${shape} `)
    digest.update(new Uint8Array(Float32Array.from(data).buffer))
  }
  expect(digest.digest('hex')).toBe('8fff5c009d1f40624c9744f183fb8c219c9d08fbec148f9af330da3e5fca3890')
})
