import { AgentGraph, type Unit } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { type ConstructionSpace, legalityMasks } from '../../graph/legality.ts'
import { type Realization, realizations } from '../../library/role-space.ts'
import type { Random } from '../../numerics/random.ts'

export type Shape = 'empty' | 'single' | 'serial' | 'parallel' | 'converging' | 'random'

/** The predecessors of each unit, for shapes that are fixed. */
const fixedShapes: Partial<Record<Shape, readonly (readonly number[])[]>> = {
  single: [[]],
  serial: [[], [0]],
  parallel: [[], []],
  converging: [[], [], [0, 1]],
}

const slots: readonly Shape[] = ['single', 'serial', 'parallel', 'converging', 'random', 'random', 'random']
const attempts = 64
/** From this attempt on, counted from 0, a slot draws a random graph. */
const givingUpShape = 32

export interface Candidates {
  readonly graphs: readonly AgentGraph[]
  /** How each was drawn. */
  readonly shapes: readonly Shape[]
  /** Slots without a candidate. */
  readonly leftOut: number
}

/** The graphs of one search batch, drawn without the policy: the empty graph and up to seven others, all distinct. */
export function drawCandidates(space: ConstructionSpace, random: Pick<Random, 'uniform'>): Candidates {
  const graphs = [AgentGraph.empty]
  const shapes: Shape[] = ['empty']
  const seen = new Set(graphs.map(graphKey))
  const draw = new GraphDraw(space, random)
  if (draw.isPossible)
    for (const slot of slots)
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const fits = (fixedShapes[slot]?.length ?? 0) <= space.maxUnits
        const shape = fits && attempt < givingUpShape ? slot : 'random'
        const graph = draw.graph(shape)
        const key = graph && graphKey(graph)
        if (key === undefined || seen.has(key)) continue
        seen.add(key)
        graphs.push(graph!)
        shapes.push(shape)
        break
      }
  return { graphs, shapes, leftOut: slots.length + 1 - graphs.length }
}

/** Draws uniformly among legal choices, in library order. */
class GraphDraw {
  readonly #space: ConstructionSpace
  readonly #random: Pick<Random, 'uniform'>
  /** The legal realizations of every role. They do not depend on the graph. */
  readonly #branches: readonly { role: string; realizations: readonly Realization[] }[]

  constructor(space: ConstructionSpace, random: Pick<Random, 'uniform'>) {
    this.#space = space
    this.#random = random
    const { realizations: legal } = legalityMasks(AgentGraph.empty, space)
    this.#branches = space.roles.roles
      .map(({ id }, role) => ({
        role: id,
        realizations: realizations.filter((_, z) => legal[role * 2 + z] === 1),
      }))
      .filter((branch) => branch.realizations.length > 0)
  }

  get isPossible(): boolean {
    return this.#branches.length > 0
  }

  /** Undefined if an edge of a fixed shape is illegal. */
  graph(shape: Shape): AgentGraph | undefined {
    const fixed = fixedShapes[shape]
    return fixed === undefined ? this.#randomGraph() : this.#fixedGraph(fixed)
  }

  #fixedGraph(heard: readonly (readonly number[])[]): AgentGraph | undefined {
    // Every unit is drawn, even if an earlier edge is illegal, so that the random stream stays the same.
    const units = heard.map((predecessors) => ({ ...this.#unit(), predecessors }))
    let graph = AgentGraph.empty
    for (const unit of units) {
      if (!unit.predecessors.every((predecessor) => this.#mayHear(graph, unit, predecessor))) return undefined
      graph = graph.add(unit)
    }
    return graph
  }

  #randomGraph(): AgentGraph {
    const size = 1 + Math.floor(this.#random.uniform() * this.#space.maxUnits)
    let graph = AgentGraph.empty
    while (graph.size < size) {
      const unit = this.#unit()
      const predecessors = [...graph.units.keys()].filter(
        (position) => this.#mayHear(graph, unit, position) && this.#random.uniform() < 0.5,
      )
      graph = graph.add({ ...unit, predecessors })
    }
    return graph
  }

  #unit(): Omit<Unit, 'predecessors'> {
    const { role, realizations } = this.#choose(this.#branches)
    return { role, realization: this.#choose(realizations) }
  }

  #mayHear(graph: AgentGraph, { role, realization }: Omit<Unit, 'predecessors'>, heard: number): boolean {
    const branch = this.#space.roles.indexOf(role) * 2 + realizations.indexOf(realization)
    return legalityMasks(graph, this.#space).edges[branch * graph.size + heard] === 1
  }

  #choose<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random.uniform() * items.length)]!
  }
}
