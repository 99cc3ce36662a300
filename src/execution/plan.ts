import { hash } from 'node:crypto'
import { type AgentGraph, type Finalizer, marksText } from '../graph/agent-graph.ts'
import { type ExpandedGraph, type ExpandedNode, expand } from '../graph/expansion.ts'
import type { Executor, Library, Role } from '../library/library.ts'
import { directRole, roleCalled } from '../library/plain-roles.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import {
  bestInstructions,
  directInstructions,
  finalizerInstructions,
  nodeInstructions,
  ownRoundInstructions,
  toolInstructions,
} from './instructions.ts'
import type { Granularity, NodePart } from './packet.ts'
import { protocolVersion, type Response } from './protocol/response.ts'
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
  /** The nodes it listens to, sorted by name; absent for the direct path. */
  readonly predecessors?: readonly number[]
  /** Whether some of them share a name. */
  readonly twins: boolean
  /** Length of the longest path from here to the end, this node included. */
  readonly remaining: number
  readonly system: Text
  /** The start of its user message. */
  readonly head: Text
  readonly tools: ReadonlyMap<string, Tool>
  /** The request part that lists its tools, if it has any. */
  readonly toolsText?: Text
  /** The predecessors that are this agent's own earlier rounds. */
  readonly own?: ReadonlySet<number>
  readonly temperature?: number
  /** One of the execution's further models. */
  readonly model?: string
  /** Set for finalizers other than the paper's summarizer. */
  readonly decides?: 'vote' | 'last' | 'best'
  /** A request part with extra information for this node. */
  readonly brief?: Text
  /** Names of the extra reply fields it must return. */
  readonly also?: readonly string[]
  /** Overrides how its reply is read. */
  readonly read?: (text: string) => Response
}

/** The nodes of an expanded graph, then its finalizer; or only the direct path. */
export interface Plan {
  readonly nodes: readonly PlannedNode[]
  /** Longest remaining path first, so that predecessors always come before their listeners. */
  readonly order: readonly number[]
  /** For each node, those that listen to it, in this order. */
  readonly listeners: readonly (readonly number[])[]
}

/** What a plan depends on besides the graph. */
interface PlanInputs {
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'tools'>
  readonly tools: Toolbox
}

const plans = new WeakMap<AgentGraph, PlanInputs & { readonly plan: Plan }>()

/** Plans a graph, once for all tasks it runs on. */
export function planOf(graph: AgentGraph, { library, profile, tools }: PlanInputs): Plan {
  const known = plans.get(graph)
  if (known?.library === library && known.profile === profile && known.tools === tools) return known.plan
  const plan = graph.size === 0 ? directPlan(library) : graphPlan(graph, { library, profile, tools })
  plans.set(graph, { library, profile, tools, plan })
  return plan
}

function graphPlan(graph: AgentGraph, { library, profile, tools: toolbox }: PlanInputs): Plan {
  const expanded = expand(graph)
  const count = expanded.nodes.length
  const roles = graph.units.map(({ role }) => roleCalled(library, role))
  const executors = expanded.nodes.map((node) => executorOf(roles[node.unit]!, node))
  const names = nodeNames(graph, expanded, (index) => executors[index]!.id)
  const byName = (nodes: readonly number[]) =>
    [...nodes].sort((a, b) => (names[a] === names[b] ? 0 : names[a]! < names[b]! ? -1 : 1))
  const concluded = concludedBy(graph.finalizer, expanded)
  const heard = [...expanded.nodes.map(({ predecessors }) => predecessors), concluded].map(byName)

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
    const unit = graph.units[node.unit]!
    if (role === directRole) {
      const { twins, remaining } = routed(index)
      const { agent, temperature, model } = unit
      const marks = { head: headText('direct', 'direct', 'direct', agent), temperature, model }
      const named = { id: idOf(node), name: names[index]!, twins, remaining }
      return { ...outerNode('direct', library), ...named, ...marks }
    }
    const executor = executors[index]!
    const tools = toolsOf(executor, profile, toolbox)
    const own = ownRounds(graph, node.unit, heard[index]!, (one) => expanded.nodes[one]!.unit)
    return {
      id: idOf(node),
      part: node.part,
      role: role.id,
      executor: executor.id,
      granularity: node.part === 'aggregator' ? 'group' : node.part,
      name: names[index]!,
      ...routed(index),
      ...textsOf(executor, role, {
        part: node.part,
        hasTools: tools.size > 0,
        hasOwn: own !== undefined,
        agent: unit.agent,
      }),
      tools,
      toolsText: tools.size > 0 ? toolsText(tools) : undefined,
      own,
      temperature: unit.temperature,
      model: unit.model,
    }
  })
  nodes.push({ ...outerNode('finalizer', library), ...deciding(graph.finalizer, library), ...routed(count) })
  const order = [...nodes.keys()].sort((a, b) => remaining[b]! - remaining[a]!)
  const listeners = nodes.map((_, node) => order.filter((other) => heard[other]!.includes(node)))
  return { nodes, order, listeners }
}

function directPlan(library: Library): Plan {
  return {
    nodes: [{ ...outerNode('direct', library), twins: false, remaining: 1 }],
    order: [0],
    listeners: [[]],
  }
}

/** The nodes whose results the finalizer gets. */
function concludedBy(finalizer: AgentGraph['finalizer'], { exits, sinks }: ExpandedGraph): readonly number[] {
  if (finalizer === 'last' && sinks.length !== 1)
    throw new Error(`The finalizer 'last' needs a graph with one sink; this one has ${sinks.length}.`)
  return finalizer === 'summarizer-of-all' ? exits : sinks
}

function deciding(finalizer: AgentGraph['finalizer'], library: Library): Partial<PlannedNode> {
  if (finalizer === undefined || finalizer === 'summarizer-of-all') return {}
  const decides: Extract<Finalizer, 'vote' | 'last' | 'best'> = finalizer
  if (decides !== 'best') return { decides }
  return { decides, system: namedText(`${library.prompts.finalizer}\n\n${bestInstructions}`) }
}

/** The predecessors that are earlier rounds of the same agent: other units, so never a group's own workers. */
function ownRounds(
  { units }: AgentGraph,
  unit: number,
  heard: readonly number[],
  unitOf: (node: number) => number,
): ReadonlySet<number> | undefined {
  const { agent, role } = units[unit]!
  if (agent === undefined) return undefined
  const isOwn = (other: number) => units[other]!.agent === agent && units[other]!.role === role
  const own = heard.filter((node) => unitOf(node) !== unit && isOwn(unitOf(node)))
  return own.length === 0 ? undefined : new Set(own)
}

const outerInstructions = { finalizer: finalizerInstructions, direct: directInstructions }

/** The finalizer or the direct path: no role of the graph, no tools. */
export function outerNode(part: 'finalizer' | 'direct', library: Library) {
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

export function executorOf(role: Role, { part, worker }: Pick<ExpandedNode, 'part' | 'worker'>): Executor {
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

type NodeTexts = Pick<PlannedNode, 'system' | 'head'>

interface NodeManner {
  readonly part: NodePart
  readonly hasTools: boolean
  /** Whether it hears its own reply of an earlier round. */
  readonly hasOwn: boolean
  readonly agent?: number
}

const texts = new WeakMap<Role, Map<string, NodeTexts>>()

/** Cached per role. */
function textsOf(executor: Executor, role: Role, manner: NodeManner): NodeTexts {
  const { part, hasTools, hasOwn, agent } = manner
  const known = texts.get(role) ?? new Map<string, NodeTexts>()
  texts.set(role, known)
  const key = `${executor.id} ${part} ${hasTools} ${hasOwn} ${agent}`
  const found = known.get(key)
  if (found !== undefined) return found
  const more = hasOwn ? ownRoundInstructions : ''
  const made = {
    system: systemText(executor, role, part, { hasTools, more }),
    head: headText(executor.id, role.id, part, agent),
  }
  known.set(key, made)
  return made
}

/** Members of a group are told their group's role; the prompt of an atomic executor already describes it. */
export function systemText(
  executor: Executor,
  role: Role,
  part: NodePart,
  { hasTools, more }: { readonly hasTools: boolean; readonly more: string },
): Text {
  const place = part === 'atomic' ? '' : `\n\nYour group's role, ${role.id}: ${role.description}`
  const instructions = hasTools ? toolInstructions : nodeInstructions
  return namedText(`${executor.prompt}${place}\n\n${instructions}${more === '' ? '' : `\n\n${more}`}`)
}

export function headText(id: string, role: string, part: NodePart, agent?: number): Text {
  // `JSON.stringify` leaves `agent` out if it is undefined.
  return namedText(`{"protocol":"${protocolVersion}","executor":${JSON.stringify({ id, role, part, agent })}`)
}

export function toolsText(tools: ReadonlyMap<string, Tool>): Text {
  const listed = [...tools.values()].map(({ name, description }) => ({ name, description }))
  return namedText(`,"tools":${JSON.stringify(listed)}`)
}

/**
 * Names of the nodes of an expanded graph, as their listeners see them. A name says who speaks and, by a digest,
 * which sub-organisation stands behind it: the node and, recursively, its predecessors. It does not depend on the
 * node's position or on the rest of the graph, so graphs with a common part send identical requests for it.
 *
 * Nodes with the same executor and equally named predecessors share a name: they get the same requests. They are told
 * apart only if one node listens to several of them (`orderMessages`).
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
    const marks = marksText(graph.units[unit]!)
    const digest = hash('sha256', JSON.stringify([role, realization, part, executor, heard, ...marks]), 'hex')
    digests.push(digest)
    return `${part === 'worker' ? executor : role}-${digest.slice(0, 8)}`
  })
}
