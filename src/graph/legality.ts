import { type Realization, type RoleSpace, realizations } from '../library/role-space.ts'
import { Problem } from '../problem.ts'
import { AgentGraph, depthOf, type Unit } from './agent-graph.ts'

/** The organisations a run may use: any, or only one granularity. */
export type Restriction = 'mixed' | 'all-atomic' | 'all-group'

export interface GraphLimits {
  /** Most outer units (N_max). */
  readonly maxUnits: number
  /** Most nodes on the longest path of the expanded graph, not counting the finalizer. */
  readonly maxDepth: number
}

/** Everything besides the graph that decides which additions are legal. */
export interface ConstructionSpace extends GraphLimits {
  readonly roles: RoleSpace
  readonly restriction: Restriction
}

export type Action = { readonly type: 'stop' } | ({ readonly type: 'add' } & Unit)

/** Legal actions as masks in library order. They nest: a legal edge belongs to a legal realization of a legal role. */
export interface LegalityMasks {
  /** R + 1 entries: the roles, then STOP. */
  readonly roles: Uint8Array
  /** R × 2: atomic, group. */
  readonly realizations: Uint8Array
  /** R × 2 × n: per existing unit, whether it may be a predecessor. */
  readonly edges: Uint8Array
}

export function legalityMasks(graph: AgentGraph, space: ConstructionSpace): LegalityMasks {
  assertUnitLimit(graph, space)
  const { roles } = space.roles
  const size = graph.size
  const roleMask = new Uint8Array(roles.length + 1)
  const realizationMask = new Uint8Array(roles.length * 2)
  const edgeMask = new Uint8Array(roles.length * 2 * size)
  roleMask[roles.length] = 1
  if (size < space.maxUnits) {
    const unitRoles = graph.units.map((unit) => space.roles.indexOf(unit.role))
    for (let role = 0; role < roles.length; role += 1) {
      for (const [z, realization] of realizations.entries()) {
        if (!realizationIsLegal(role, realization, space)) continue
        const branch = role * 2 + z
        roleMask[role] = 1
        realizationMask[branch] = 1
        for (let unit = 0; unit < size; unit += 1) {
          const fits = graph.exitDepths[unit]! + depthOf(realization) <= space.maxDepth
          if (fits && space.roles.compatible(unitRoles[unit]!, role)) edgeMask[branch * size + unit] = 1
        }
      }
    }
  }
  return { roles: roleMask, realizations: realizationMask, edges: edgeMask }
}

/** Why an action is illegal, or undefined if it is legal. */
export function whyIllegal(action: Action, graph: AgentGraph, space: ConstructionSpace): string | undefined {
  if (action.type === 'stop') return undefined
  const masks = legalityMasks(graph, space)
  const role = space.roles.indexOf(action.role)
  const z = realizations.indexOf(action.realization)
  if (z < 0) return `'${String(action.realization)}' is neither atomic nor group`
  const branch = role * 2 + z
  if (!masks.roles[role]) return `role ${action.role} cannot be added here`
  if (!masks.realizations[branch]) return `role ${action.role} cannot be ${action.realization} here`
  const seen = new Set<number>()
  for (const predecessor of action.predecessors) {
    if (seen.has(predecessor)) return `predecessor ${predecessor} is listed twice`
    seen.add(predecessor)
    if (!Number.isInteger(predecessor) || predecessor < 0 || predecessor >= graph.size) {
      return `predecessor ${predecessor} is not an existing unit`
    }
    if (!masks.edges[branch * graph.size + predecessor]) {
      return `unit ${predecessor} cannot precede ${action.role} (${action.realization})`
    }
  }
  return undefined
}

/** The graph after a legal action. */
export function apply(
  action: Action & { type: 'add' },
  graph: AgentGraph,
  space: ConstructionSpace,
): AgentGraph {
  const reason = whyIllegal(action, graph, space)
  if (reason !== undefined) throw new IllegalActionError(reason)
  return graph.add(action)
}

/** Throws unless the graph is possible under the limits, the library and the restriction. */
export function assertLegalGraph(graph: AgentGraph, space: ConstructionSpace): void {
  assertUnitLimit(graph, space)
  graph.units.reduce((built, unit) => apply({ type: 'add', ...unit }, built, space), AgentGraph.empty)
}

function realizationIsLegal(role: number, realization: Realization, space: ConstructionSpace): boolean {
  const allowed = space.restriction === 'mixed' || space.restriction === `all-${realization}`
  return allowed && space.roles.roles[role]![realization] && depthOf(realization) <= space.maxDepth
}

function assertUnitLimit(graph: AgentGraph, { maxUnits }: GraphLimits): void {
  if (graph.size > maxUnits) {
    throw new IllegalActionError(`a graph of ${graph.size} units exceeds the limit of ${maxUnits}`)
  }
}

export class IllegalActionError extends Problem {
  constructor(reason: string) {
    super(`Not a legal construction: ${reason}.`)
  }
}
