import { hash } from 'node:crypto'
import type { AgentGraph } from '../graph/agent-graph.ts'
import { type ExpandedGraph, type ExpandedNode, expand } from '../graph/expansion.ts'
import type { Executor, Library, Role } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import {
  directInstructions,
  finalizerInstructions,
  nodeInstructions,
  toolInstructions,
} from './instructions.ts'
import type { Granularity, NodePart } from './packet.ts'
import { protocolVersion } from './protocol/response.ts'
import { namedText, type Text } from './text.ts'
import { type Toolbox, toolsOf } from './toolbox.ts'
import type { Tool } from './tools/tool.ts'

/** Everything about a node that does not depend on the task. */
export interface PlannedNode {
  /** `u0`, `u1.w2`, `u1.aggregator`, `finalizer` or `direct`. */
  readonly id: string
  readonly part: NodePart
  readonly role: string
  readonly executor: string
  readonly granularity: Granularity
  /** Independent of position: see `nodeNames`. */
  readonly name: string
  /** Whose messages it gets, by name; absent for the direct path. */
  readonly predecessors?: readonly number[]
  /** Whether some of them share a name. */
  readonly twins: boolean
  /** Nodes on the longest path from here to the end of the execution, this one included. */
  readonly remaining: number
  readonly system: Text
  /** The start of its user message. */
  readonly head: Text
  readonly tools: ReadonlyMap<string, Tool>
  /** The tools as a part of a request, if it has any. */
  readonly toolsText?: Text
}

/** An expanded graph with its finalizer, which comes last; or the direct path alone. */
export interface Plan {
  readonly nodes: readonly PlannedNode[]
  /** The longest remaining path first, so that no node comes before one that it listens to. */
  readonly order: readonly number[]
}

/** What a plan depends on besides the graph. */
interface Means {
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'tools'>
  readonly tools: Toolbox
}

const plans = new WeakMap<AgentGraph, Means & { readonly plan: Plan }>()

/** Plans a graph once for all the tasks that it is run on. */
export function planOf(graph: AgentGraph, { library, profile, tools }: Means): Plan {
  const known = plans.get(graph)
  if (known?.library === library && known.profile === profile && known.tools === tools) return known.plan
  const plan = graph.size === 0 ? directPlan(library) : graphPlan(graph, { library, profile, tools })
  plans.set(graph, { library, profile, tools, plan })
  return plan
}

function graphPlan(graph: AgentGraph, { library, profile, tools: toolbox }: Means): Plan {
  const expanded = expand(graph)
  const count = expanded.nodes.length
  const roles = graph.units.map(({ role }) => library.roles[library.space.indexOf(role)]!)
  const executors = expanded.nodes.map((node) => executorOf(roles[node.unit]!, node))
  const names = nodeNames(graph, expanded, (index) => executors[index]!.id)
  const byName = (nodes: readonly number[]) =>
    [...nodes].sort((a, b) => (names[a] === names[b] ? 0 : names[a]! < names[b]! ? -1 : 1))
  const heard = [...expanded.nodes.map(({ predecessors }) => predecessors), expanded.sinks].map(byName)

  const remaining = new Array<number>(count + 1).fill(1)
  for (let node = count; node >= 0; node -= 1)
    for (const predecessor of heard[node]!)
      remaining[predecessor] = Math.max(remaining[predecessor]!, remaining[node]! + 1)

  const routed = (node: number) => ({
    predecessors: heard[node]!,
    twins: heard[node]!.some((predecessor, index, all) => names[predecessor] === names[all[index - 1]!]),
    remaining: remaining[node]!,
  })
  const nodes: PlannedNode[] = expanded.nodes.map((node, index) => {
    const role = roles[node.unit]!
    const executor = executors[index]!
    const tools = toolsOf(executor, profile, toolbox)
    return {
      id: idOf(node),
      part: node.part,
      role: role.id,
      executor: executor.id,
      granularity: node.part === 'aggregator' ? 'group' : node.part,
      name: names[index]!,
      ...routed(index),
      ...textsOf(executor, role, node.part, tools.size > 0),
      tools,
      toolsText: tools.size > 0 ? toolsText(tools) : undefined,
    }
  })
  nodes.push({ ...outerNode('finalizer', library), ...routed(count) })
  const order = [...nodes.keys()].sort((a, b) => remaining[b]! - remaining[a]!)
  return { nodes, order }
}

function directPlan(library: Library): Plan {
  return { nodes: [{ ...outerNode('direct', library), twins: false, remaining: 1 }], order: [0] }
}

const outerInstructions = { finalizer: finalizerInstructions, direct: directInstructions }

/** The finalizer or the direct path: no role of the graph, no tools. */
function outerNode(part: 'finalizer' | 'direct', library: Library) {
  return {
    id: part,
    part,
    role: part,
    executor: part,
    granularity: 'atomic',
    name: part,
    system: namedText(`${library.prompts[part]}\n\n${outerInstructions[part]}`),
    head: headText(part, part, part),
    tools: new Map<string, Tool>(),
  } as const
}

function executorOf(role: Role, { part, worker }: ExpandedNode): Executor {
  const executor =
    part === 'atomic' ? role.atomic : part === 'worker' ? role.group?.workers[worker] : role.group?.aggregator
  if (executor !== undefined) return executor
  const [missing, has] = part === 'atomic' ? ['atomic', 'group'] : ['group', 'atomic']
  throw new Error(`The role '${role.id}' has no ${missing} realization in this library: use its ${has} one.`)
}

function idOf({ unit, part, worker }: ExpandedNode): string {
  if (part === 'atomic') return `u${unit}`
  return part === 'worker' ? `u${unit}.w${worker}` : `u${unit}.aggregator`
}

interface NodeTexts extends Pick<PlannedNode, 'system' | 'head'> {
  readonly role: Role
  readonly part: NodePart
  readonly hasTools: boolean
}

const texts = new WeakMap<Executor, NodeTexts>()

/** Made once for all graphs with this executor. */
function textsOf(
  executor: Executor,
  role: Role,
  part: NodePart,
  hasTools: boolean,
): Pick<PlannedNode, 'system' | 'head'> {
  let known = texts.get(executor)
  if (known?.role !== role || known.part !== part || known.hasTools !== hasTools) {
    const system = systemText(executor, role, part, hasTools)
    known = { role, part, hasTools, system, head: headText(executor.id, role.id, part) }
    texts.set(executor, known)
  }
  return { system: known.system, head: known.head }
}

/** Members of a group are told the role that they are part of; an atomic executor's prompt is the role's. */
function systemText(executor: Executor, role: Role, part: NodePart, hasTools: boolean): Text {
  const place = part === 'atomic' ? '' : `\n\nYour group's role, ${role.id}: ${role.description}`
  return namedText(`${executor.prompt}${place}\n\n${hasTools ? toolInstructions : nodeInstructions}`)
}

function headText(id: string, role: string, part: NodePart): Text {
  return namedText(`{"protocol":"${protocolVersion}","executor":${JSON.stringify({ id, role, part })}`)
}

function toolsText(tools: ReadonlyMap<string, Tool>): Text {
  const listed = [...tools.values()].map(({ name, description }) => ({ name, description }))
  return namedText(`,"tools":${JSON.stringify(listed)}`)
}

/**
 * Names of the nodes of an expanded graph, for those who listen to them. A name tells who speaks and, by a digest, which
 * sub-organisation stands behind it: the node and, recursively, those it listens to. Neither the node's position nor the
 * rest of the graph has a part in it, so graphs with a common part send identical requests for it.
 *
 * Nodes with the same executor and equally named predecessors share a name: they get the same requests, and are told
 * apart only where somebody listens to several of them (`request.ts`).
 */
function nodeNames(
  graph: AgentGraph,
  { nodes }: ExpandedGraph,
  executorOf: (node: number) => string,
): string[] {
  const digests: string[] = []
  return nodes.map(({ unit, part, predecessors }, index) => {
    const { role, realization } = graph.units[unit]!
    const executor = executorOf(index)
    const heard = predecessors.map((predecessor) => digests[predecessor]!).sort()
    const digest = hash('sha256', JSON.stringify([role, realization, part, executor, heard]), 'hex')
    digests.push(digest)
    return `${part === 'worker' ? executor : role}-${digest.slice(0, 8)}`
  })
}
