import { expect, test } from 'vitest'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { chooseGraphs } from './graph-choice.ts'
import type { Look } from './value-model.ts'

const single = (role: string) => AgentGraph.of([{ role, realization: 'atomic', predecessors: [] }])
const [a, b] = [single('a'), single('b')]
const traits = Array.from({ length: 60 }, (_, question) => Float64Array.of(question % 2 === 0 ? 1 : -1))

/** Looks at `a` and `b` on all questions; `tokens` are those of `b`. */
function looksWith(score: (role: string, question: number) => number, tokens = 100): Look[] {
  return [a, b].flatMap((graph) =>
    traits.map((_, question) => {
      const { role } = graph.units[0]!
      return { graph, question, score: score(role, question), tokens: role === 'a' ? 100 : tokens }
    }),
  )
}
const byKind = (role: string, question: number) => ((role === 'a') === (question % 2 === 0) ? 1 : 0)
const rolesOf = (graphs: readonly AgentGraph[]) => graphs.map(({ units }) => units[0]!.role)

test('each question gets the graph that suits it', () => {
  const { graphs, gain } = chooseGraphs(looksWith(byKind), { tokenWorth: 0, traits: [traits] })
  expect(rolesOf(graphs)).toEqual(traits.map((_, question) => (question % 2 === 0 ? 'a' : 'b')))
  expect(gain).toBeGreaterThan(0.4)
})

test('without distinguishing traits, all questions get the better graph', () => {
  const random = deriveRandom('noise')
  const draws = traits.map(() => random.uniform())
  const looks = looksWith((role, question) => (draws[question]! < (role === 'a' ? 0.8 : 0.5) ? 1 : 0))
  const { graphs, fixed, gain } = chooseGraphs(looks, { tokenWorth: 0, traits: [traits] })
  expect(gain).toBe(0)
  expect(new Set(rolesOf(graphs))).toEqual(new Set(['a']))
  expect(fixed.units[0]!.role).toBe('a')
})

test('tokens count at their price, and a token limit holds', () => {
  const looks = looksWith(byKind, 2000)
  expect(new Set(rolesOf(chooseGraphs(looks, { tokenWorth: 1e-3, traits: [traits] }).graphs))).toEqual(
    new Set(['a']),
  )
  const limited = chooseGraphs(looks, { tokenWorth: 0, maxTokens: 500, traits: [traits] })
  expect(new Set(rolesOf(limited.graphs))).toEqual(new Set(['a']))
})

test('other traits are used when they predict better', () => {
  const silent = traits.map(() => Float64Array.of())
  const { graphs, gain } = chooseGraphs(looksWith(byKind), { tokenWorth: 0, traits: [silent, traits] })
  expect(gain).toBeGreaterThan(0.3)
  expect(new Set(rolesOf(graphs)).size).toBe(2)
})

test('before any graph has run on all questions, all get the likely best of the well-tested ones', () => {
  const few = looksWith((role) => (role === 'b' ? 1 : 0)).filter(({ question }) => question < 20)
  const { graphs, gain } = chooseGraphs(few, { tokenWorth: 0, traits: [traits] })
  expect(gain).toBeUndefined()
  expect(new Set(rolesOf(graphs))).toEqual(new Set(['b']))
})

test('saving tokens never costs score against the best fixed graph', () => {
  // `b` is right more often; weighing tokens alone would pick `a`, which costs a hundredth.
  const random = deriveRandom('dear')
  const draws = traits.map(() => random.uniform())
  const looks = looksWith((role, question) => (draws[question]! < (role === 'a' ? 0.5 : 0.9) ? 1 : 0), 10_000)
  const { graphs } = chooseGraphs(looks, { tokenWorth: 5e-5, traits: [traits] })
  expect(new Set(rolesOf(graphs))).toEqual(new Set(['b']))
})

test('without per-question differences it hardly ever departs from the best fixed graph', () => {
  let departed = 0
  for (let world = 0; world < 20; world += 1) {
    const random = deriveRandom('flat', world)
    const graphs = [...'abcdef'].map(single)
    const looks = graphs.flatMap((graph) =>
      traits.map((_, question) => ({ graph, question, score: random.uniform() < 0.7 ? 1 : 0, tokens: 100 })),
    )
    departed += new Set(chooseGraphs(looks, { tokenWorth: 0, traits: [traits] }).graphs).size > 1 ? 1 : 0
  }
  expect(departed).toBeLessThanOrEqual(2)
})

test('fractional scores work like right and wrong', () => {
  const near = (role: string, question: number) => 0.6 + 0.02 * byKind(role, question)
  const { graphs } = chooseGraphs(looksWith(near), { tokenWorth: 0, traits: [traits] })
  expect(rolesOf(graphs)).toEqual(traits.map((_, question) => (question % 2 === 0 ? 'a' : 'b')))
})
