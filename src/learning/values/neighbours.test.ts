import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryConstruction } from '../../../test/arbitrary-graph.ts'
import { assertLegalGraph } from '../../graph/legality.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { neighbourOf } from './neighbours.ts'

test('a neighbour is legal and differs in size by at most one unit', () => {
  fc.assert(
    fc.property(arbitraryConstruction, fc.nat(), ({ graph, space }, seed) => {
      const near = neighbourOf(graph, space, deriveRandom(seed))
      assertLegalGraph(near, space)
      expect(Math.abs(near.size - graph.size)).toBeLessThanOrEqual(1)
    }),
  )
})
