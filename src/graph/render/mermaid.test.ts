import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../../test/arbitrary-graph.ts'
import { AgentGraph } from '../agent-graph.ts'
import { mermaid } from './mermaid.ts'
import { type ExecutorLabel, expandedPicture, nodesOf, outerPicture } from './picture.ts'
import { visibleText } from './visible-text.ts'

const graph = AgentGraph.of([
  { role: 'planner', realization: 'atomic', predecessors: [] },
  { role: 'calculation_auditor', realization: 'group', predecessors: [0] },
  { role: 'fact finder', realization: 'atomic', predecessors: [] },
])
const executor: ExecutorLabel = ({ role }, part, worker) =>
  part === 'worker' ? `worker ${worker + 1}` : part === 'aggregator' ? 'aggregator' : role

describe('flowcharts', () => {
  test('outer graph', () => {
    expect(mermaid(outerPicture(graph))).toBe(`flowchart TD
  u0["planner"]
  u1[["calculation_auditor (group)"]]
  u2["fact finder"]
  finalizer(["finalizer"])
  u0 --> u1
  u1 --> finalizer
  u2 --> finalizer
`)
  })

  test('expanded graph', () => {
    expect(mermaid(expandedPicture(graph, executor))).toBe(`flowchart TD
  u0["planner"]
  subgraph u1["calculation_auditor (group)"]
    u1w1["worker 1"]
    u1w2["worker 2"]
    u1w3["worker 3"]
    u1a["aggregator"]
  end
  u2["fact finder"]
  finalizer(["finalizer"])
  u0 --> u1w1
  u0 --> u1w2
  u0 --> u1w3
  u1w1 --> u1a
  u1w2 --> u1a
  u1w3 --> u1a
  u1a --> finalizer
  u2 --> finalizer
`)
  })

  test('the empty graph is a direct answer', () => {
    const direct = 'flowchart TD\n  direct(["direct answer"])\n'
    expect(mermaid(outerPicture(AgentGraph.empty))).toBe(direct)
    expect(mermaid(expandedPicture(AgentGraph.empty, executor))).toBe(direct)
  })
})

describe('hostile names', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'"[]()<>{}#;&%|`$*_-=:\\/~\n\r\t\u202e ab1') }),
    fc.constantFrom(
      '<img src=x onerror=alert(1)>',
      '"] --> evil["',
      'end',
      '1. list',
      '__init__',
      '#quot;',
      '%%{init: {}}%%',
    ),
  )

  test('no name breaks out of its label, and each reads back', () => {
    const declaration = /^ {2}u0\["((?:[\p{L}\p{M}\p{N} (),_-]|#\d+;)+)"\]$/u
    fc.assert(
      fc.property(hostile, (role) => {
        const text = mermaid(outerPicture(AgentGraph.of([{ role, realization: 'atomic', predecessors: [] }])))
        const lines = text.split('\n')
        const label = declaration.exec(lines[1]!)?.[1]
        expect(label?.replace(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))).toBe(
          visibleText(role),
        )
        expect([lines[0], ...lines.slice(2)]).toEqual([
          'flowchart TD',
          '  finalizer(["finalizer"])',
          '  u0 --> finalizer',
          '',
        ])
      }),
      { numRuns: 500 },
    )
  })

  test('names of executors and boxes are escaped too', () => {
    const evil = AgentGraph.of([{ role: '"<b>', realization: 'group', predecessors: [] }])
    const text = mermaid(expandedPicture(evil, () => 'x"]\nend'))
    expect(text).toContain('subgraph u0["#34;#60;b#62; (group)"]\n    u0w1["x#34;#93;#92;nend"]\n')
  })
})

test('every node is declared once, and every edge joins declared nodes', () => {
  fc.assert(
    fc.property(arbitraryGraph({ maxUnits: 6 }), (any) => {
      for (const picture of [outerPicture(any), expandedPicture(any, executor)]) {
        const ids = nodesOf(picture).map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        for (const [from, to] of picture.edges) expect(ids.indexOf(from)).toBeLessThan(ids.indexOf(to))
        expect(picture.edges.every(([from]) => ids.includes(from))).toBe(true)
        expect(ids.at(-1)).toBe(any.size === 0 ? 'direct' : 'finalizer')
        expect(mermaid(picture)).toBe(mermaid(picture))
      }
    }),
  )
})
