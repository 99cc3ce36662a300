import type { AgentGraph, Unit } from '../agent-graph.ts'
import { type ExpandedNode, expand } from '../expansion.ts'
import { visibleText } from './visible-text.ts'

/** What a rendering shows, independent of notation: nodes, boxes around groups, edges. The finalizer is the last node. */
export interface Picture {
  readonly parts: readonly (PictureNode | PictureBox)[]
  /** Pairs of node ids. */
  readonly edges: readonly (readonly [from: string, to: string])[]
}

export interface PictureNode {
  readonly id: string
  readonly label: string
  /** `end` is where results go: the finalizer, or the direct answer of an empty graph. */
  readonly kind: 'agent' | 'group' | 'end'
}

/** The agents of one group. */
interface PictureBox {
  readonly id: string
  readonly label: string
  readonly nodes: readonly PictureNode[]
}

/** Names the executor of a unit, or of a group's worker (0, 1, 2) or aggregator. */
export type ExecutorLabel = (unit: Unit, part: ExpandedNode['part'], worker: number) => string

/** The units as placed by the policy; a group is one node. */
export function outerPicture(graph: AgentGraph): Picture {
  if (graph.size === 0) return directAnswer
  const nodes = graph.units.map(({ role, realization }, unit): PictureNode => {
    const id = `u${unit}`
    if (realization === 'group') return { id, label: groupLabel(role), kind: 'group' }
    return { id, label: visibleText(role), kind: 'agent' }
  })
  const ids = nodes.map(({ id }) => id)
  return withFinalizer(nodes, ids, graph.units, graph.sinks)
}

/** The agents as executed; a group is a box around its workers and aggregator. */
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
    return realization === 'group' ? { id: `u${unit}`, label: groupLabel(role), nodes: own } : own[0]!
  })
  return withFinalizer(parts, ids, nodes, sinks)
}

/** All nodes in order, including those inside boxes. */
export function nodesOf({ parts }: Picture): PictureNode[] {
  return parts.flatMap((part) => ('nodes' in part ? part.nodes : [part]))
}

const directAnswer: Picture = {
  parts: [{ id: 'direct', label: 'direct answer', kind: 'end' }],
  edges: [],
}

/** Adds the finalizer, with edges from the sinks. */
function withFinalizer(
  parts: Picture['parts'],
  ids: readonly string[],
  listeners: readonly { readonly predecessors: readonly number[] }[],
  sinks: readonly number[],
): Picture {
  const edges = listeners.flatMap(({ predecessors }, index) =>
    predecessors.map((predecessor) => [ids[predecessor]!, ids[index]!] as const),
  )
  const last = sinks.map((sink) => [ids[sink]!, 'finalizer'] as const)
  return {
    parts: [...parts, { id: 'finalizer', label: 'finalizer', kind: 'end' }],
    edges: [...edges, ...last],
  }
}

function groupLabel(role: string): string {
  return `${visibleText(role)} (group)`
}

function nodeId({ unit, part, worker }: ExpandedNode): string {
  if (part === 'atomic') return `u${unit}`
  return part === 'worker' ? `u${unit}w${worker + 1}` : `u${unit}a`
}
