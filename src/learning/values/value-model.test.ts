import { expect, test } from 'vitest'
import { atomic } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type Look, ValueModel, worthOn } from './value-model.ts'

const [a, b, both, chain] = [
  AgentGraph.of([atomic('a')]),
  AgentGraph.of([atomic('b')]),
  AgentGraph.of([atomic('a'), atomic('b')]),
  AgentGraph.of([atomic('a'), atomic('b', [0])]),
]
/** Two kinds of questions, alternating. */
const traits = Array.from({ length: 40 }, (_, question) => Float64Array.of(question % 2 === 0 ? 1 : -1))

/**
 * Role `a` solves questions of the first kind, `b` those of the second; nobody solves every third question.
 */
function looksAt(graphs: readonly AgentGraph[]): Look[] {
  return graphs.flatMap((graph) =>
    traits.map((_, question) => {
      const solves = graph.units.some(({ role }) => role === (question % 2 === 0 ? 'a' : 'b'))
      return { graph, question, score: solves && question % 3 > 0 ? 1 : 0, tokens: 100 * graph.size }
    }),
  )
}

test('learns which graph suits which questions, besides their difficulty', () => {
  const model = new ValueModel(traits, looksAt([a, b]))
  const weights = model.weights()
  const [first, second] = [a, b].map((graph) => model.worth(weights, model.describe(graph)))
  expect(worthOn(first!, traits[0]!)).toBeGreaterThan(worthOn(second!, traits[0]!) + 0.2)
  expect(worthOn(second!, traits[1]!)).toBeGreaterThan(worthOn(first!, traits[1]!) + 0.2)
})

test('an untested graph is judged by what it shares with others', () => {
  const model = new ValueModel(traits, looksAt([a, both]))
  const weights = model.weights()
  const worth = (graph: AgentGraph) => model.worth(weights, model.describe(graph))[0]!
  expect(model.describe(chain).looks).toBe(0)
  expect(worth(chain)).toBeGreaterThan(worth(a))
})

/** The same by Gaussian elimination over all columns. */
test('the weights solve the ridge regression', () => {
  const random = deriveRandom('values')
  const looks = Array.from({ length: 60 }, (_, look): Look => {
    const graph = [a, b, both, chain][look % 4]!
    return { graph, question: look % 40, score: Math.round(random.uniform()), tokens: 1 }
  })
  const model = new ValueModel(traits, looks)
  const weights = model.weights()
  const mean = looks.reduce((sum, { score }) => sum + score, 0) / looks.length
  const predicted = (from: Float64Array, { graph, question }: Look) => {
    const ease = from.length - traits.length - 1
    const worth = worthOn(model.worth(from, model.describe(graph)), traits[question]!)
    return worth + 0.3 * (from[ease + question]! + from.at(-1)! * traits[question]![0]!)
  }
  const objective = (from: Float64Array) =>
    looks.reduce((sum, look) => sum + ((look.score - mean - predicted(from, look)) / 0.4) ** 2, 0) +
    from.reduce((sum, weight) => sum + weight * weight, 0)
  const least = objective(weights)
  for (let column = 0; column < weights.length; column += 1)
    for (const step of [-0.05, 0.05]) {
      const moved = weights.slice()
      moved[column]! += step
      expect(objective(moved)).toBeGreaterThan(least)
    }
})

test('draws reflect the remaining uncertainty and depend only on the seed', () => {
  const model = new ValueModel(traits, looksAt([a, b]))
  const draws = (graph: AgentGraph) =>
    Array.from({ length: 40 }, (_, draw) => {
      const weights = model.weights(deriveRandom(draw))
      return model.worth(weights, model.describe(graph))[0]!
    })
  const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
  expect(spread(draws(a))).toBeGreaterThan(0.02)
  expect(draws(a)).toEqual(draws(a))
  const certain = new ValueModel(
    traits,
    Array.from({ length: 20 }).flatMap(() => looksAt([a, b])),
  )
  const worths = Array.from({ length: 40 }, (_, draw) => {
    const worth = (graph: AgentGraph) =>
      certain.worth(certain.weights(deriveRandom(draw)), certain.describe(graph))[0]!
    return worth(a) - worth(b)
  })
  const loose = draws(a).map((value, draw) => value - draws(b)[draw]!)
  expect(spread(worths)).toBeLessThan(spread(loose))
})
