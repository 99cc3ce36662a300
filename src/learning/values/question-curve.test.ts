import { expect, test } from 'vitest'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { questionCurve } from './question-curve.ts'

const single = (role: string) => AgentGraph.of([{ role, realization: 'atomic', predecessors: [] }])
const traits = Array.from({ length: 64 }, (_, question) => Float64Array.of(question % 2 === 0 ? 1 : -1))
const looksAt = (graph: AgentGraph, questions: number) =>
  traits.slice(0, questions).map((_, question) => {
    const isRight = (graph.units[0]!.role === 'a') === (question % 2 === 0)
    return { graph, question, score: isRight ? 1 : 0, tokens: 100 }
  })

test('more questions lead to better choices on left-out ones', () => {
  const curve = questionCurve([...looksAt(single('a'), 64), ...looksAt(single('b'), 64)], traits, 0)
  expect(curve.map(({ questions }) => questions)).toEqual([8, 16, 32, 48])
  expect(curve.at(-1)!.score).toBe(1)
  expect(curve.at(-1)!.score).toBeGreaterThanOrEqual(curve[0]!.score)
})

test('it needs two graphs that ran on nearly all questions', () => {
  expect(questionCurve([...looksAt(single('a'), 64), ...looksAt(single('b'), 20)], traits, 0)).toEqual([])
})
