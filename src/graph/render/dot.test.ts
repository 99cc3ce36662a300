import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentGraph } from '../agent-graph.ts'
import { dot } from './dot.ts'
import { type ExecutorLabel, expandedPicture, outerPicture } from './picture.ts'
import { visibleText } from './visible-text.ts'

const graph = AgentGraph.of([
  { role: 'planner', realization: 'atomic', predecessors: [] },
  { role: 'calculation_auditor', realization: 'group', predecessors: [0] },
])
const executor: ExecutorLabel = ({ role }, part, worker) =>
  part === 'worker' ? `worker ${worker + 1}` : part === 'aggregator' ? 'aggregator' : role

describe('digraphs', () => {
  test('outer graph', () => {
    expect(dot(outerPicture(graph))).toBe(`digraph {
  node [shape=box]
  u0 [label="planner"]
  u1 [label="calculation_auditor (group)", peripheries=2]
  finalizer [label="finalizer", style=rounded]
  u0 -> u1
  u1 -> finalizer
}
`)
  })

  test('expanded graph', () => {
    expect(dot(expandedPicture(graph, executor))).toBe(`digraph {
  node [shape=box]
  u0 [label="planner"]
  subgraph cluster_u1 {
    label="calculation_auditor (group)"
    u1w1 [label="worker 1"]
    u1w2 [label="worker 2"]
    u1w3 [label="worker 3"]
    u1a [label="aggregator"]
  }
  finalizer [label="finalizer", style=rounded]
  u0 -> u1w1
  u0 -> u1w2
  u0 -> u1w3
  u1w1 -> u1a
  u1w2 -> u1a
  u1w3 -> u1a
  u1a -> finalizer
}
`)
  })

  test('the empty graph is a direct answer', () => {
    expect(dot(outerPicture(AgentGraph.empty))).toBe(`digraph {
  node [shape=box]
  direct [label="direct answer", style=rounded]
}
`)
  })
})

test('no name breaks out of its label, and each reads back', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'"\\<>[]{}&;#=\n\r\t lnrNG') }),
  )
  fc.assert(
    fc.property(hostile, (role) => {
      const lines = dot(
        outerPicture(AgentGraph.of([{ role, realization: 'atomic', predecessors: [] }])),
      ).split('\n')
      expect(lines).toHaveLength(7)
      // Within the quotes, every quote and backslash must be part of an escape.
      const label = /^ {2}u0 \[label="((?:[^"\\]|\\["\\])*)"\]$/.exec(lines[2]!)?.[1]
      const read = label?.replace(/\\(["\\])|&amp;/g, (sign, escaped) => (sign === '&amp;' ? '&' : escaped))
      expect(read).toBe(visibleText(role))
    }),
    { numRuns: 500 },
  )
})

const graphviz = 'dot'
const installed = spawnSync(graphviz, ['-V']).status === 0

test.skipIf(!installed && process.env['CI'] !== 'true')(
  'Graphviz reads it and shows the same names (needs Graphviz)',
  () => {
    const names = [
      'a "quoted"',
      'back\\slash \\N',
      '<b>html</b>',
      '&lt; &amp;',
      '[x] {y} | z',
      'line\nbreak',
      'ünï 数',
    ]
    for (const name of names) {
      const one = AgentGraph.of([{ role: name, realization: 'group', predecessors: [] }])
      for (const picture of [outerPicture(one), expandedPicture(one, () => name)]) {
        const { status, stdout, stderr } = spawnSync(graphviz, ['-Tsvg'], {
          input: dot(picture),
          encoding: 'utf8',
        })
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
        const shown = [...stdout.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => fromXml(text!))
        expect(shown).toContain(`${visibleText(name)} (group)`)
        expect(shown).toContain('finalizer')
      }
    }
  },
)

function fromXml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&' }
  return text
    .replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
      code ? String.fromCodePoint(Number(code)) : named[name]!,
    )
    .replaceAll('\u00a0', ' ')
}
