import { graphlib, layout } from '@dagrejs/dagre'
import {
  Background,
  Controls,
  type Edge,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import '@xyflow/react/dist/base.css'
import type { ShownTrace } from '../../../src/view/shown-trace.ts'
import { useTheme } from '../theme.ts'

type Shown = ShownTrace['nodes'][number]

interface ExecutionGraphShown {
  readonly nodes: readonly (Pick<Shown, 'node' | 'role' | 'part'> & {
    readonly predecessors: readonly string[]
    /** That of a node that is done, `waiting` or `working`. */
    readonly status: string
  })[]
  readonly chosen: string | undefined
  readonly onNode: (node: string) => void
  readonly onEdge: (from: string, to: string) => void
}

const size = { width: 176, height: 44 }
const fit = { maxZoom: 1, padding: 0.08 }

/** The agents as they were run; messages go from left to right. */
export default function ExecutionGraph({ nodes, chosen, onNode, onEdge }: ExecutionGraphShown): ReactNode {
  const { shown: theme } = useTheme()
  const shape = nodes.map(({ node, predecessors }) => `${node}<${predecessors}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a node's status does not move it
  const places = useMemo(() => placesOf(nodes), [shape])
  const frame = useRef<HTMLDivElement>(null)
  const [flow, setFlow] = useState<ReactFlowInstance>()
  // Another organisation beside it takes half of the width.
  useEffect(() => {
    if (flow === undefined) return
    const resized = new ResizeObserver(() => void flow.fitView(fit))
    resized.observe(frame.current!)
    return () => resized.disconnect()
  }, [flow])
  const drawn = nodes.map(
    ({ node, role, part, status }): Node => ({
      id: node,
      position: places.get(node)!,
      data: { label: part === 'worker' || part === 'aggregator' ? `${role} · ${part}` : role },
      ariaLabel: `${role}, ${part}, ${status}`,
      className: [part, status, node === chosen ? 'chosen' : ''].join(' '),
      sourcePosition: Position.Right,
      targetPosition: Position.Left,
      draggable: false,
      connectable: false,
      ...size,
    }),
  )
  const edges = nodes.flatMap(({ node, predecessors }) =>
    predecessors.map(
      (from): Edge => ({
        id: `${from} ${node}`,
        source: from,
        target: node,
        ariaLabel: `Message from ${from} to ${node}`,
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      }),
    ),
  )
  return (
    <div className="flow" ref={frame}>
      <ReactFlow
        nodes={drawn}
        edges={edges}
        colorMode={theme}
        fitView
        fitViewOptions={fit}
        onInit={setFlow}
        minZoom={0.2}
        preventScrolling={false}
        zoomOnScroll={false}
        deleteKeyCode={null}
        nodesDraggable={false}
        onNodeClick={(_, { id }) => onNode(id)}
        onEdgeClick={(_, { source, target }) => onEdge(source, target)}
        onNodesChange={(changes) => {
          for (const change of changes) if (change.type === 'select' && change.selected) onNode(change.id)
        }}
        onEdgesChange={(changes) => {
          const chosenEdge = changes.find((change) => change.type === 'select' && change.selected)
          const edge = edges.find(
            ({ id }) => chosenEdge !== undefined && 'id' in chosenEdge && id === chosenEdge.id,
          )
          if (edge !== undefined) onEdge(edge.source, edge.target)
        }}
        proOptions={{ hideAttribution: false }}
      >
        <Background gap={22} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

function placesOf(nodes: ExecutionGraphShown['nodes']): Map<string, { x: number; y: number }> {
  const graph = new graphlib.Graph()
    .setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 60 })
    .setDefaultEdgeLabel(() => ({}))
  for (const { node } of nodes) graph.setNode(node, { ...size })
  for (const { node, predecessors } of nodes) for (const from of predecessors) graph.setEdge(from, node)
  layout(graph)
  return new Map(
    nodes.map(({ node }) => {
      const { x, y } = graph.node(node) as { x: number; y: number }
      return [node, { x: x - size.width / 2, y: y - size.height / 2 }]
    }),
  )
}
