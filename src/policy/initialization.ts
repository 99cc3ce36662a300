import { type ParameterValues, sizeOf } from '../numerics/parameters.ts'
import { deriveRandom } from '../numerics/random.ts'
import { type PolicyDimensions, parameterShapes } from './parameter-shapes.ts'

/**
 * PyTorch's default distributions: linear and GRU layers uniform in ±1/√fan_in (GRU: ±1/√H), embeddings N(0, 1),
 * LayerNorm 1 and 0, the empty-graph vector N(0, 0.02²). Each tensor has its own generator, so its values depend only
 * on seed and name and are the same on every machine.
 */
export function initializeParameters(dimensions: PolicyDimensions, seed: number): ParameterValues {
  const shapes = parameterShapes(dimensions)
  const values = new Map<string, { shape: readonly number[]; data: Float32Array }>()
  for (const [name, shape] of shapes) {
    const random = deriveRandom(seed, 'initialization', name)
    const data = new Float32Array(sizeOf(shape))
    if (name.includes('_norm.')) data.fill(name.endsWith('weight') ? 1 : 0)
    else if (name === 'empty_graph') fill(data, () => 0.02 * random.normal())
    else if (name.includes('_emb.')) fill(data, () => random.normal())
    else {
      const bound = 1 / Math.sqrt(name.startsWith('gru.') ? dimensions.hidden : fanIn(name, shapes))
      fill(data, () => bound * (2 * random.uniform() - 1))
    }
    values.set(name, { shape, data })
  }
  return values
}

/** A bias has the fan-in of its weight. */
function fanIn(name: string, shapes: ReadonlyMap<string, readonly number[]>): number {
  return shapes.get(name.replace(/\.bias$/, '.weight'))!.at(-1)!
}

function fill(data: Float32Array, draw: () => number): void {
  for (let index = 0; index < data.length; index += 1) data[index] = draw()
}
