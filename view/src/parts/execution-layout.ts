import { graphlib, layout } from '@dagrejs/dagre'

interface LinkedNode {
  readonly node: string
  readonly predecessors: readonly string[]
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Where messages go: from left to right, or downwards on a narrow page. */
export type Direction = 'right' | 'down'

export interface ExecutionLayout {
  readonly direction: Direction
  readonly width: number
  readonly height: number
  /** The upper left corner of each node. */
  readonly places: ReadonlyMap<string, Point>
  /** The SVG path of each edge, by `from to`. */
  readonly paths: ReadonlyMap<string, string>
}

export const nodeSize = { width: 184, height: 44 }

/** The layout whose nodes are easier to read in a frame of this width. */
export function fittingLayout(nodes: readonly LinkedNode[], frameWidth: number): ExecutionLayout {
  const right = executionLayout(nodes, 'right')
  if (right.width * 0.7 <= frameWidth) return right
  const down = executionLayout(nodes, 'down')
  return down.width < right.width * 0.75 ? down : right
}

/**
 * Places nodes in ranks. dagre reserves a lane for a long edge in every rank that it passes; the edge runs straight through
 * the rank on that lane and bends only between ranks, so it never passes behind a node.
 */
export function executionLayout(nodes: readonly LinkedNode[], direction: Direction): ExecutionLayout {
  const isDown = direction === 'down'
  const graph = new graphlib.Graph()
    .setGraph({ rankdir: isDown ? 'TB' : 'LR', nodesep: 18, edgesep: 18, ranksep: isDown ? 40 : 60 })
    .setDefaultEdgeLabel(() => ({}))
  for (const { node } of nodes) graph.setNode(node, { ...nodeSize })
  for (const { node, predecessors } of nodes) for (const from of predecessors) graph.setEdge(from, node)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const centres = new Map(nodes.map(({ node }) => [node, graph.node(node) as Point]))
  const along = ({ x, y }: Point) => (isDown ? y : x)
  const ranks = [...new Set([...centres.values()].map(along))]
  const path = (from: string, to: string) => {
    const [start, end] = [centres.get(from)!, centres.get(to)!]
    const { points } = graph.edge(from, to) as { points: readonly Point[] }
    const passed = points.filter((point) =>
      ranks.some((rank) => Math.abs(rank - along(point)) < 1 && rank > along(start) && rank < along(end)),
    )
    return edgePath([start, ...passed, end], isDown)
  }
  return {
    ...{ direction, width, height },
    places: new Map(
      [...centres].map(([node, { x, y }]) => [
        node,
        { x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 },
      ]),
    ),
    paths: new Map(
      nodes.flatMap(({ node, predecessors }) =>
        predecessors.map((from) => [`${from} ${node}`, path(from, node)] as const),
      ),
    ),
  }
}

/** From the far side of the first place to the near side of the last, straight through the ranks between. */
function edgePath(places: readonly Point[], isDown: boolean): string {
  const half = isDown ? nodeSize.height / 2 : nodeSize.width / 2
  const moved = ({ x, y }: Point, by: number) => (isDown ? { x, y: y + by } : { x: x + by, y })
  const text = ({ x, y }: Point) => `${x} ${y}`
  const parts = places.slice(1).map((to, position) => {
    const [from, end] = [moved(places[position]!, half), moved(to, -half)]
    const bend = isDown ? (end.y - from.y) / 2 : (end.x - from.x) / 2
    return `L${text(from)}C${text(moved(from, bend))} ${text(moved(end, -bend))} ${text(end)}`
  })
  return `M${text(moved(places[0]!, half))}${parts.join('')}`
}
