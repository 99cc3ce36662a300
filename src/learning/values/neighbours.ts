import { AgentGraph, type Unit } from '../../graph/agent-graph.ts'
import { type ConstructionSpace, whyIllegal } from '../../graph/legality.ts'
import { realizations } from '../../library/role-space.ts'
import type { Random } from '../../numerics/random.ts'

/** Tries before giving up on finding a legal change. */
const attempts = 20

/** A legal graph that differs in one change: a unit added or removed, another role or realization, or an edge toggled. */
export function neighbourOf(graph: AgentGraph, space: ConstructionSpace, random: Random): AgentGraph {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const changed = legal(change(graph.units, space, random), space)
    if (changed !== undefined) return changed
  }
  return graph
}

function change(units: readonly Unit[], space: ConstructionSpace, random: Random): Unit[] {
  const below = (count: number) => Math.floor(random.uniform() * count)
  const role = () => space.roles.roles[below(space.roles.roles.length)]!.id
  const kinds = ['add', 'remove', 'regroup', 'rewire', 'rename'] as const
  const kind = units.length === 0 ? 'add' : kinds[below(kinds.length)]!
  const at = below(units.length)
  const replaced = (index: number, unit: Partial<Unit>) =>
    units.map((old, position) => (position === index ? { ...old, ...unit } : old))
  switch (kind) {
    case 'add': {
      const predecessors = [...units.keys()].filter(() => random.uniform() < 0.5)
      return [...units, { role: role(), realization: realizations[below(2)]!, predecessors }]
    }
    case 'remove':
      return units
        .filter((_, position) => position !== at)
        .map((unit) => ({
          ...unit,
          predecessors: unit.predecessors.filter((p) => p !== at).map((p) => (p > at ? p - 1 : p)),
        }))
    case 'regroup':
      return replaced(at, { realization: units[at]!.realization === 'atomic' ? 'group' : 'atomic' })
    case 'rename':
      return replaced(at, { role: role() })
    case 'rewire': {
      if (at === 0) return [...units]
      const other = below(at)
      const { predecessors } = units[at]!
      const rewired = predecessors.includes(other)
        ? predecessors.filter((p) => p !== other)
        : [...predecessors, other]
      return replaced(at, { predecessors: rewired })
    }
  }
}

function legal(units: readonly Unit[], space: ConstructionSpace): AgentGraph | undefined {
  let graph = AgentGraph.empty
  for (const unit of units) {
    if (graph.size === space.maxUnits) return undefined
    if (whyIllegal({ type: 'add', ...unit }, graph, space) !== undefined) return undefined
    graph = graph.add(unit)
  }
  return graph
}
