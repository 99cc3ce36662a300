import type { AgentGraph, Unit } from '../agent-graph.ts'
import { type ExpandedNode, expand } from '../expansion.ts'
import { visibleText } from './visible-text.ts'

/**
 * What a rendering shows, before any notation: nodes, boxes around groups, edges. The finalizer is the last
 * node.
 */
export interface Picture {
  readonly parts: readonly (PictureNode | PictureBox)[]
  /** Pairs of node ids. */
  readonly edges: readonly (readonly [from: string, to: string])[]
}

export interface PictureNode {
  readonly id: string
  readonly label: string
  /** `end` is what the graph hands its results to: the finalizer, or the direct answer of an empty graph. */
  readonly kind: 'agent' | 'group' | 'end'
}

/** The agents of one group. */
interface PictureBox {
  readonly id: string
  readonly label: string
  readonly nodes: readonly PictureNode[]
}

/** Names the executor that carries out a unit, or a worker (0, 1, 2) or the aggregator of a group. */
export type ExecutorLabel = (unit: Unit, part: ExpandedNode['part'], worker: number) => string

/** Units as the policy placed them; a group is one node. */
export function outerPicture(graph: AgentGraph): Picture {
  if (graph.size === 0) return directAnswer
  const nodes = graph.units.map(({ role, realization }, unit): PictureNode => {
    const label = visibleText(role)
    return realization === 'group'
      ? { id: `u${unit}`, label: `${label} (group)`, kind: 'group' }
      : { id: `u${unit}`, label, kind: 'agent' }
  })
  const edges = graph.units.flatMap(({ predecessors }, unit) =>
    predecessors.map((predecessor) => [`u${predecessor}`, `u${unit}`] as const),
  )
  return withFinalizer(
    nodes,
    edges,
    graph.sinks.map((unit) => `u${unit}`),
  )
}

/** Agents as they are executed; a group is a box around its workers and aggregator. */
export function expandedPicture(graph: AgentGraph, labelOf: ExecutorLabel): Picture {
  if (graph.size === 0) return directAnswer
  const { nodes, sinks } = expand(graph)
  const ids = nodes.map(nodeId)
  const drawn = nodes.map(({ unit, part, worker }, index): PictureNode => {
    const label = visibleText(labelOf(graph.units[unit]!, part, worker))
    return { id: ids[index]!, label, kind: 'agent' }
  })
  const parts = graph.units.map(({ role, realization }, unit): PictureNode | PictureBox => {
    const own = drawn.filter((_, index) => nodes[index]!.unit === unit)
    return realization === 'group'
      ? { id: `u${unit}`, label: `${visibleText(role)} (group)`, nodes: own }
      : own[0]!
  })
  const edges = nodes.flatMap(({ predecessors }, index) =>
    predecessors.map((predecessor) => [ids[predecessor]!, ids[index]!] as const),
  )
  return withFinalizer(
    parts,
    edges,
    sinks.map((node) => ids[node]!),
  )
}

/** All nodes in order, those inside of boxes too. */
export function nodesOf({ parts }: Picture): PictureNode[] {
  return parts.flatMap((part) => ('nodes' in part ? part.nodes : [part]))
}

const directAnswer: Picture = {
  parts: [{ id: 'direct', label: 'direct answer', kind: 'end' }],
  edges: [],
}

function withFinalizer(parts: Picture['parts'], edges: Picture['edges'], sinks: readonly string[]): Picture {
  return {
    parts: [...parts, { id: 'finalizer', label: 'finalizer', kind: 'end' }],
    edges: [...edges, ...sinks.map((sink) => [sink, 'finalizer'] as const)],
  }
}

function nodeId({ unit, part, worker }: ExpandedNode): string {
  if (part === 'atomic') return `u${unit}`
  return part === 'worker' ? `u${unit}w${worker + 1}` : `u${unit}a`
}
