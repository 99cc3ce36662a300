import type { Realization } from '../library/role-space.ts'

/** One placed role. Predecessors are positions of earlier units, ascending. */
export interface Unit {
  readonly role: string
  readonly realization: Realization
  readonly predecessors: readonly number[]
}

/** Nodes that a unit adds to a path of the expanded graph: a group is a worker and then its aggregator. */
export function depthOf(realization: Realization): number {
  return realization === 'atomic' ? 1 : 2
}

/** The outer graph: units in construction order, with edges from earlier ones only, so acyclic. `add` gives a new graph. */
export class AgentGraph {
  static readonly empty: AgentGraph = new AgentGraph([], [])

  readonly units: readonly Unit[]
  /** Per unit, the nodes on the longest path of the expanded graph that ends at its exit. */
  readonly exitDepths: readonly number[]

  private constructor(units: readonly Unit[], exitDepths: readonly number[]) {
    this.units = units
    this.exitDepths = exitDepths
    Object.freeze(this)
  }

  /** A graph from units in construction order; refuses self-, forward and duplicate predecessors. */
  static of(units: Iterable<Unit>): AgentGraph {
    let graph = AgentGraph.empty
    for (const unit of units) graph = graph.add(unit)
    return graph
  }

  add({ role, realization, predecessors }: Unit): AgentGraph {
    const position = this.units.length
    const sorted = [...predecessors].sort((a, b) => a - b)
    for (const [index, predecessor] of sorted.entries()) {
      if (!(Number.isInteger(predecessor) && predecessor in this.exitDepths))
        throw new InvalidGraphError(position, `its predecessor ${predecessor} is not an earlier unit`)
      if (predecessor === sorted[index - 1])
        throw new InvalidGraphError(position, `it lists predecessor ${predecessor} twice`)
    }
    if (realization !== 'atomic' && realization !== 'group')
      throw new InvalidGraphError(position, `its realization '${realization}' is neither atomic nor group`)
    const entryDepth = Math.max(0, ...sorted.map((predecessor) => this.exitDepths[predecessor]!))
    const unit = Object.freeze({ role, realization, predecessors: Object.freeze(sorted) })
    return new AgentGraph(
      Object.freeze([...this.units, unit]),
      Object.freeze([...this.exitDepths, entryDepth + depthOf(realization)]),
    )
  }

  get size(): number {
    return this.units.length
  }

  /** Nodes on the longest path of the expanded graph; 0 for the empty graph. */
  get depth(): number {
    return Math.max(0, ...this.exitDepths)
  }

  /** Per unit, how many units listen to it. */
  get outdegrees(): number[] {
    const degrees = new Array<number>(this.size).fill(0)
    for (const unit of this.units) for (const predecessor of unit.predecessors) degrees[predecessor]! += 1
    return degrees
  }

  /** Units that nobody listens to, ascending: their results go to the finalizer. */
  get sinks(): number[] {
    return [...this.outdegrees.entries()].filter(([, degree]) => degree === 0).map(([position]) => position)
  }

  /** The graph as it is written to files and sent over the wire. */
  toJSON(): { units: readonly Unit[] } {
    return { units: this.units }
  }
}

export class InvalidGraphError extends Error {
  override name = 'InvalidGraphError'
  constructor(unit: number, problem: string) {
    super(`Unit ${unit} of the graph is not valid: ${problem}.`)
  }
}
