import type { Realization } from '../library/role-space.ts'

/** A placed role. Predecessors are positions of earlier units, ascending. The policy builds units without marks. */
export interface Unit extends UnitMarks {
  readonly role: string
  readonly realization: Realization
  readonly predecessors: readonly number[]
}

/** Distinguishes a unit from others of its role. */
export interface UnitMarks {
  /** The agent's number. It tells agents of one role apart; units of the same agent are its rounds. */
  readonly agent?: number
  /** Overrides the execution's temperature. */
  readonly temperature?: number
  /** One of the execution's further models, by name. */
  readonly model?: string
}

/**
 * How the results of units become the answer. `summarizer`, the paper's, is a call that gets the results of all
 * sinks. `summarizer-of-all` gets those of all units. Without a call, `vote` takes the most frequent answer of the
 * sinks, and `last` that of the only sink. `best` is a call that picks one of the sinks' answers unchanged.
 */
export const finalizers = ['summarizer', 'summarizer-of-all', 'vote', 'last', 'best'] as const

export type Finalizer = (typeof finalizers)[number]

/** Only the marks that are set, so that unmarked units add nothing to keys and files. */
export function marksOf({ agent, temperature, model }: UnitMarks): UnitMarks {
  return {
    ...(agent !== undefined && { agent }),
    ...(temperature !== undefined && { temperature }),
    ...(model !== undefined && { model }),
  }
}

/** Empty for a unit without marks. */
export function marksText(unit: UnitMarks): readonly string[] {
  if (unit.agent === undefined && unit.temperature === undefined && unit.model === undefined) return []
  return [JSON.stringify(marksOf(unit))]
}

/** Nodes a unit adds to a path of the expanded graph: a group adds a worker and its aggregator. */
export function depthOf(realization: Realization): number {
  return realization === 'atomic' ? 1 : 2
}

/**
 * The outer graph: units in construction order, with edges only from earlier ones, so it is acyclic. Immutable: `add`
 * returns a new graph.
 */
export class AgentGraph {
  static readonly empty: AgentGraph = new AgentGraph([], [], undefined)

  readonly units: readonly Unit[]
  /** Per unit, the number of nodes on the longest path of the expanded graph that ends at its exit. */
  readonly exitDepths: readonly number[]
  /** Absent for the paper's finalizer, `summarizer`. */
  readonly finalizer?: Exclude<Finalizer, 'summarizer'>

  private constructor(
    units: readonly Unit[],
    exitDepths: readonly number[],
    finalizer: AgentGraph['finalizer'],
  ) {
    this.units = units
    this.exitDepths = exitDepths
    this.finalizer = finalizer
    Object.freeze(this)
  }

  /** A graph from units in construction order. Throws for self-, forward and duplicate predecessors. */
  static of(units: Iterable<Unit>, finalizer: Finalizer = 'summarizer'): AgentGraph {
    let graph = AgentGraph.empty
    if (finalizer !== 'summarizer') graph = new AgentGraph([], [], finalizer)
    for (const unit of units) graph = graph.add(unit)
    return graph
  }

  /** Reads a graph from its JSON form. */
  static from({ units, finalizer }: GraphJson): AgentGraph {
    return AgentGraph.of(units, finalizer)
  }

  add(added: Unit): AgentGraph {
    const { role, realization, predecessors } = added
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
    const placed = { role, realization, predecessors: Object.freeze(sorted) }
    const unit = Object.freeze(marksText(added).length === 0 ? placed : { ...placed, ...marksOf(added) })
    return new AgentGraph(
      Object.freeze([...this.units, unit]),
      Object.freeze([...this.exitDepths, entryDepth + depthOf(realization)]),
      this.finalizer,
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

  /** Units nobody listens to, ascending. Their results go to the finalizer. */
  get sinks(): number[] {
    return [...this.outdegrees.entries()].filter(([, degree]) => degree === 0).map(([position]) => position)
  }

  /** The JSON form for files and the wire. */
  toJSON(): GraphJson {
    const { units, finalizer } = this
    return finalizer === undefined ? { units } : { units, finalizer }
  }
}

export interface GraphJson {
  readonly units: readonly Unit[]
  readonly finalizer?: Finalizer
}

export class InvalidGraphError extends Error {
  override name = 'InvalidGraphError'
  constructor(unit: number, problem: string) {
    super(`Unit ${unit} of the graph is not valid: ${problem}.`)
  }
}
