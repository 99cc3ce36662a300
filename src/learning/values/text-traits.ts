import { deriveRandom } from '../../numerics/random.ts'
import { innerProduct } from './value-model.ts'

const components = 6
const iterations = 60

/**
 * The principal components of the questions' embeddings, as traits of mean 0 and deviation 1: they capture the topic
 * where the form says little. Computed by orthogonal iteration.
 */
export function textTraits(vectors: readonly ArrayLike<number>[]): Float64Array[] {
  const size = vectors[0]!.length
  const mean = new Float64Array(size)
  for (const vector of vectors) for (let i = 0; i < size; i += 1) mean[i]! += vector[i]! / vectors.length
  const centred = vectors.map((vector) => mean.map((value, i) => vector[i]! - value))
  const random = deriveRandom('text-traits')
  const directions: Float64Array[] = []
  const traits = vectors.map(() => new Float64Array(components))
  for (let component = 0; component < components; component += 1) {
    let direction = Float64Array.from({ length: size }, () => random.normal())
    for (let iteration = 0; iteration < iterations; iteration += 1) {
      const image = new Float64Array(size)
      for (const row of centred) addTimes(image, row, innerProduct(row, direction))
      for (const earlier of directions) addTimes(image, earlier, -innerProduct(earlier, image))
      const length = Math.sqrt(innerProduct(image, image))
      if (length < 1e-9) return traits.map((trait) => trait.slice(0, component))
      direction = image.map((value) => value / length)
    }
    const along = centred.map((row) => innerProduct(row, direction))
    const deviation = Math.sqrt(along.reduce((sum, value) => sum + value * value, 0) / along.length)
    for (const [question, value] of along.entries()) traits[question]![component] = value / deviation
    directions.push(direction)
  }
  return traits
}

function addTimes(into: Float64Array, vector: Float64Array, factor: number): void {
  for (let i = 0; i < into.length; i += 1) into[i]! += factor * vector[i]!
}
