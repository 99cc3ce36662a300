import { type AgentGraph, marksText } from './agent-graph.ts'

/**
 * The units of a graph in an order that depends only on its shape and labels, not on how it was built: `order[k]` is
 * the position of the unit that comes k-th. Two graphs that differ only in construction order become the same list of
 * units. Predecessors come before their successors.
 *
 * This is exact, not a fingerprint of neighbourhoods: colours are refined until stable; if units still share a
 * colour, each in turn is singled out, and the smallest resulting description wins. Symmetries found on the way prune
 * the search, as in McKay's nauty, so that graphs of many equal units stay cheap.
 */
export function canonicalOrder(graph: AgentGraph): number[] {
  const predecessors = graph.units.map((unit) => unit.predecessors)
  const successors = graph.units.map((_, position) =>
    [...predecessors.keys()].filter((later) => predecessors[later]!.includes(position)),
  )
  /** Known permutations of the units that leave the graph unchanged. */
  const automorphisms: (readonly number[])[] = []
  let best: Leaf | undefined
  visit(refine(initialColouring(graph)), [])
  return [...best!.order]

  /** Explores the colourings below this one. Returns the path length at which the search should continue. */
  function visit(colouring: Colouring, path: readonly number[]): number {
    const cell = firstSharedCell(colouring)
    if (cell.length === 0) return visitLeaf(colouring, path)
    const explored: number[] = []
    for (const unit of cell) {
      if (isImage(unit, explored, path)) continue
      explored.push(unit)
      const resume = visit(refine(singledOut(colouring, unit, cell)), [...path, unit])
      if (resume < path.length) return resume
    }
    return path.length
  }

  function visitLeaf(colouring: Colouring, path: readonly number[]): number {
    const order = new Array<number>(colouring.length)
    for (const [unit, place] of colouring.entries()) order[place] = unit
    // Labels are left out: every leaf lists them in the same order, that of the initial colouring.
    const description = JSON.stringify(order.map((unit) => coloursOf(predecessors[unit]!, colouring)))
    if (best === undefined || description < best.description) {
      best = { order, description, path }
      return path.length
    }
    if (description > best.description) return path.length
    // Two orders with the same description: mapping one onto the other is a symmetry. It carries the finished branch
    // of the best leaf onto this one, so nothing new is left below the point where the two paths part.
    const automorphism = new Array<number>(order.length)
    for (const [place, unit] of best.order.entries()) automorphism[unit] = order[place]!
    automorphisms.push(automorphism)
    const other = best.path
    return path.findIndex((unit, depth) => unit !== other[depth])
  }

  /** Whether a known symmetry that fixes the path maps an explored unit onto this one. */
  function isImage(unit: number, explored: readonly number[], path: readonly number[]): boolean {
    const symmetries = automorphisms.filter((image) => path.every((fixed) => image[fixed] === fixed))
    const reached = new Set(explored)
    for (const from of reached) for (const image of symmetries) reached.add(image[from]!)
    return reached.has(unit)
  }

  /** Splits cells by how many predecessors and successors their units have in each cell, until stable. */
  function refine(colouring: Colouring): Colouring {
    const refined = placesBy(colouring.length, (unit) => [
      colouring[unit]!,
      JSON.stringify([predecessors, successors].map((around) => coloursOf(around[unit]!, colouring))),
    ])
    return refined.every((place, unit) => place === colouring[unit]) ? refined : refine(refined)
  }
}

function coloursOf(units: readonly number[], colouring: Colouring): number[] {
  return units.map((unit) => colouring[unit]!).sort((a, b) => a - b)
}

/** Per unit, the first place in the order taken by its cell of equally coloured units. */
type Colouring = readonly number[]

interface Leaf {
  readonly order: readonly number[]
  readonly description: string
  /** The units that were singled out on the way to it. */
  readonly path: readonly number[]
}

/** By level, then by label. Levels come first so that predecessors precede successors in every refinement. */
function initialColouring(graph: AgentGraph): Colouring {
  const levels: number[] = []
  for (const { predecessors } of graph.units) {
    levels.push(Math.max(0, ...predecessors.map((predecessor) => levels[predecessor]! + 1)))
  }
  return placesBy(graph.size, (unit) => {
    const { role, realization } = graph.units[unit]!
    return [levels[unit]!, JSON.stringify([role, realization, ...marksText(graph.units[unit]!)])]
  })
}

/** Sorts the units by key; a unit's place is that of the first unit with an equal key. */
function placesBy(size: number, keyOf: (unit: number) => readonly [number, string]): Colouring {
  const keyed = Array.from({ length: size }, (_, unit) => ({ unit, key: keyOf(unit) }))
  keyed.sort((a, b) => compareKeys(a.key, b.key))
  const places = new Array<number>(size)
  for (const [index, { unit, key }] of keyed.entries()) {
    const previous = keyed[index - 1]
    places[unit] = previous && compareKeys(previous.key, key) === 0 ? places[previous.unit]! : index
  }
  return places
}

/** The units of the first cell that has more than one. */
function firstSharedCell(colouring: Colouring): number[] {
  const shared = colouring.filter((place, unit) => colouring.indexOf(place) !== unit)
  const first = Math.min(...shared)
  return [...colouring.keys()].filter((unit) => colouring[unit] === first)
}

/** The unit keeps its cell's place; the others move behind it. */
function singledOut(colouring: Colouring, unit: number, cell: readonly number[]): Colouring {
  const next = [...colouring]
  for (const other of cell) if (other !== unit) next[other] = colouring[unit]! + 1
  return next
}

// By code units, not locale: the order must be the same on every machine.
function compareKeys([a, text]: readonly [number, string], [b, other]: readonly [number, string]): number {
  return a - b || (text < other ? -1 : text > other ? 1 : 0)
}
