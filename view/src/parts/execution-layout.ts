import { graphlib, layout } from '@dagrejs/dagre'

interface LinkedNode {
  readonly node: string
  readonly predecessors: readonly string[]
}

interface Point {
  readonly x: number
  readonly y: number
}

export interface ExecutionLayout {
  /** The upper left corner of each node. */
  readonly places: ReadonlyMap<string, Point>
  /** The SVG path of each edge, by `from to`. */
  readonly paths: ReadonlyMap<string, string>
}

export const nodeSize = { width: 184, height: 44 }

/**
 * Places nodes from left to right. dagre reserves a lane for a long edge in every column that it passes; the edge runs
 * straight through the column on that lane and bends only between columns, so it never passes behind a node.
 */
export function executionLayout(nodes: readonly LinkedNode[]): ExecutionLayout {
  const graph = new graphlib.Graph()
    .setGraph({ rankdir: 'LR', nodesep: 18, edgesep: 18, ranksep: 60 })
    .setDefaultEdgeLabel(() => ({}))
  for (const { node } of nodes) graph.setNode(node, { ...nodeSize })
  for (const { node, predecessors } of nodes) for (const from of predecessors) graph.setEdge(from, node)
  layout(graph)
  const centres = new Map(nodes.map(({ node }) => [node, graph.node(node) as Point]))
  const columns = [...new Set([...centres.values()].map(({ x }) => x))]
  const half = nodeSize.width / 2
  const path = (from: string, to: string) => {
    const [start, end] = [centres.get(from)!, centres.get(to)!]
    const { points } = graph.edge(from, to) as { points: readonly Point[] }
    const passed = points.flatMap(({ x, y }) => {
      const column = columns.find((centre) => Math.abs(centre - x) < 1)
      return column === undefined || column <= start.x || column >= end.x ? [] : [{ x: column, y }]
    })
    return edgePath([start, ...passed, end], half)
  }
  return {
    places: new Map(
      [...centres].map(([node, { x, y }]) => [node, { x: x - half, y: y - nodeSize.height / 2 }]),
    ),
    paths: new Map(
      nodes.flatMap(({ node, predecessors }) =>
        predecessors.map((from) => [`${from} ${node}`, path(from, node)] as const),
      ),
    ),
  }
}

/** From the right side of the first place to the left side of the last, level through the columns between. */
function edgePath(places: readonly Point[], half: number): string {
  const parts = places.slice(1).map((to, position) => {
    const [x1, x2] = [places[position]!.x + half, to.x - half]
    const bend = (x2 - x1) / 2
    return `H${x1}C${x1 + bend} ${places[position]!.y} ${x2 - bend} ${to.y} ${x2} ${to.y}`
  })
  return `M${places[0]!.x + half} ${places[0]!.y}${parts.join('')}`
}
