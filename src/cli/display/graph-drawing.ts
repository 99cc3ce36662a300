import type { AgentGraph } from '../../graph/agent-graph.ts'
import { drawGraph } from '../../graph/render/terminal.ts'
import type { Screen } from './screen.ts'

const widestDrawing = 100

/** A graph as it fits the screen, without the last line break. */
export function graphDrawing(graph: AgentGraph, { columns, ascii }: Screen): string {
  return drawGraph(graph, { ascii, columns: Math.min(columns, widestDrawing) }).trimEnd()
}
