import { expect, test } from 'vitest'
import { AgentGraph } from '../agent-graph.ts'
import { outerPicture } from './picture.ts'
import { svg } from './svg.ts'

const graph = AgentGraph.of([
  { role: 'planner', realization: 'group', predecessors: [] },
  { role: 'solver', realization: 'atomic', predecessors: [0] },
  { role: 'checker', realization: 'atomic', predecessors: [1] },
  { role: 'judge', realization: 'atomic', predecessors: [0, 2] },
])

test('draws a box per unit, two frames per group, and a line per edge', () => {
  const drawing = svg(outerPicture(graph))
  for (const name of ['planner (group)', 'solver', 'checker', 'judge', 'finalizer'])
    expect(drawing).toContain(`>${name}</text>`)
  expect(drawing.match(/<rect /g)).toHaveLength(6)
  // Four edges and the one to the finalizer arrive; the long one passes two rows.
  expect(drawing.match(/marker-end/g)).toHaveLength(5)
  expect(drawing.match(/class="line"/g)).toHaveLength(7)
})

test('everything lies inside the picture', () => {
  const drawing = svg(outerPicture(graph))
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawing)!.map(Number) as [
    number,
    number,
    number,
  ]
  for (const [, x, y, w, h] of drawing.matchAll(
    /<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
  )) {
    expect(Number(x) + Number(w)).toBeLessThanOrEqual(width)
    expect(Number(y) + Number(h)).toBeLessThanOrEqual(height)
  }
})

test('names are text, never markup', () => {
  const hostile = AgentGraph.of([
    { role: '<script>alert("1")</script>&\u001b', realization: 'atomic', predecessors: [] },
  ])
  const drawing = svg(outerPicture(hostile))
  expect(drawing).not.toContain('<script')
  expect(drawing).not.toContain('\u001b')
  expect(drawing).toContain('&#60;script&#62;')
})

test('draws the direct answer too', () => {
  expect(svg(outerPicture(AgentGraph.empty))).toContain('>direct answer</text>')
})
