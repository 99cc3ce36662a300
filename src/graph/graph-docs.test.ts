import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { paperLibrary as library } from '../library/paper-library/paper-library.ts'
import { AgentGraph } from './agent-graph.ts'
import { expandedCounts } from './expansion.ts'
import { graphKey } from './graph-key.ts'
import { assertLegalGraph } from './legality.ts'
import { mermaid } from './render/mermaid.ts'
import { type ExecutorLabel, expandedPicture, outerPicture } from './render/picture.ts'
import { drawGraph } from './render/terminal.ts'

// Keeps docs/graphs.md accurate: the example graph and the claims about it are read from the page.

const page = readFileSync(new URL('../../docs/graphs.md', import.meta.url), 'utf8')
const [json] = blocks('json')
const graph = AgentGraph.of(JSON.parse(json!).units)

const executorName: ExecutorLabel = ({ role: id }, part, worker) => {
  const role = library.roles.find((candidate) => candidate.id === id)!
  if (part === 'atomic') return role.atomic!.id
  return part === 'worker' ? role.group!.workers[worker]!.id : role.group!.aggregator.id
}

test('the example is legal in the paper’s library and limits', () => {
  const space = { roles: library.space, restriction: 'mixed', maxUnits: 3, maxDepth: 4 } as const
  expect(() => assertLegalGraph(graph, space)).not.toThrow()
})

test('its pictures match the page', () => {
  expect(blocks('mermaid')).toEqual([
    mermaid(outerPicture(graph)),
    mermaid(expandedPicture(graph, executorName)),
  ])
  expect(blocks('text')).toEqual([drawGraph(graph)])
})

test('its numbers and key match the page', () => {
  const { nodes, edges } = expandedCounts(graph)
  expect(page).toContain(`has ${nodes} agents and ${edges} edges`)
  expect(page).toContain(`graph.size // ${graph.size}\n`)
  expect(page).toContain(`graph.depth // ${graph.depth}\n`)
  expect(page).toContain(`graph.sinks // [${graph.sinks}]\n`)
  expect(page).toContain(`\`${graphKey(graph).slice(0, 8)}\``)
})

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!)
}
