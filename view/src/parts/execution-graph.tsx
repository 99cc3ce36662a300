import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import '@xyflow/react/dist/base.css'
import type { ShownTrace } from '../../../src/view/shown-trace.ts'
import { agentName } from '../text.ts'
import { useTheme } from '../theme.ts'
import { fittingLayout, nodeSize } from './execution-layout.ts'

type Shown = ShownTrace['nodes'][number]

interface ExecutionGraphShown {
  readonly nodes: readonly (Pick<Shown, 'node' | 'role' | 'part' | 'executor'> & {
    readonly predecessors: readonly string[]
    /** The status of a finished node, `waiting` or `working`. */
    readonly status: string
  })[]
  readonly chosen: string | undefined
  readonly onNode: (node: string) => void
  readonly onEdge: (from: string, to: string) => void
}

// The controls are on the left.
const fit = { maxZoom: 1, padding: { left: '52px', right: '20px', y: '20px' } } as const
/** Pixels of the frame's width not available to nodes. */
const margin = 72
const edgeTypes = { routed: RoutedEdge }
// Known sizes and handles let edges be drawn at once, without waiting for the browser to measure the nodes.
const sides = {
  right: { target: Position.Left, source: Position.Right },
  down: { target: Position.Top, source: Position.Bottom },
}

/** The agents that ran, and the messages between them. */
export default function ExecutionGraph({ nodes, chosen, onNode, onEdge }: ExecutionGraphShown): ReactNode {
  const { shown: theme } = useTheme()
  const shape = nodes.map(({ node, predecessors }) => `${node}<${predecessors}`).join()
  const frame = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(0)
  // A second organisation beside it takes half of the width.
  useEffect(() => {
    const element = frame.current!
    const resized = new ResizeObserver(() => setRoom(element.clientWidth))
    resized.observe(element)
    return () => resized.disconnect()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a node's status does not move it
  const { places, paths, direction, width, height } = useMemo(
    () => fittingLayout(nodes, room - margin),
    [shape, room],
  )
  const [flow, setFlow] = useState<ReactFlowInstance>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: what fits changes with these
  useEffect(() => {
    // Wait until the flow knows its new size.
    const frameRequest = requestAnimationFrame(() => void flow?.fitView(fit))
    return () => cancelAnimationFrame(frameRequest)
  }, [flow, room, width, height])
  const zoom = Math.min(1, (room - margin) / Math.max(1, width))
  const { source, target } = sides[direction]
  const handles = [
    { type: 'target' as const, position: target, ...handlePlace(target) },
    { type: 'source' as const, position: source, ...handlePlace(source) },
  ]
  const names = new Map(nodes.map((node) => [node.node, agentName(node)]))
  const drawn = nodes.map(
    ({ node, role, part, status }): Node => ({
      id: node,
      position: places.get(node)!,
      data: { label: <NodeLabel name={names.get(node)!} role={role} part={part} /> },
      ariaLabel: `${names.get(node)}, ${part}, ${status}`,
      className: [part, status, node === chosen ? 'chosen' : ''].join(' '),
      sourcePosition: source,
      targetPosition: target,
      draggable: false,
      connectable: false,
      handles,
      ...nodeSize,
    }),
  )
  const edges = nodes.flatMap(({ node, predecessors }) =>
    predecessors.map(
      (from): Edge => ({
        id: `${from} ${node}`,
        type: 'routed',
        source: from,
        target: node,
        data: { path: paths.get(`${from} ${node}`) },
        ariaLabel: `Message from ${names.get(from)} to ${names.get(node)}`,
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      }),
    ),
  )
  return (
    <div className="flow" ref={frame} style={{ height: Math.min(640, Math.max(190, height * zoom + 44)) }}>
      {room > 0 && (
        <ReactFlow
          key={direction}
          nodes={drawn}
          edges={edges}
          edgeTypes={edgeTypes}
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
      )}
    </div>
  )
}

function handlePlace(side: Position): { x: number; y: number } {
  if (side === Position.Top || side === Position.Bottom)
    return { x: nodeSize.width / 2, y: side === Position.Top ? 0 : nodeSize.height }
  return { x: side === Position.Left ? 0 : nodeSize.width, y: nodeSize.height / 2 }
}

function NodeLabel({ name, role, part }: { name: string; role: string; part: string }): ReactNode {
  const isOfGroup = part === 'worker' || part === 'aggregator'
  return (
    <>
      <span className="cut" title={name}>
        {name}
      </span>
      {isOfGroup && <small className="cut">{`group: ${role}`}</small>}
    </>
  )
}

function RoutedEdge({ data, markerEnd }: EdgeProps): ReactNode {
  return <BaseEdge path={String(data?.['path'])} markerEnd={markerEnd} />
}
