import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'

/** A graph scored on a question, in the construction order in which it first appeared. */
export interface ScoredGraph {
  readonly key: string
  readonly graph: AgentGraph
  readonly score: number
}

/** Every graph the search has scored on one question, over all stages. */
export type GraphPool = Map<string, ScoredGraph>

/** A graph with one unit or one edge removed. */
export interface Deletion {
  readonly removed: { readonly unit: number } | { readonly edge: readonly [source: number, target: number] }
  readonly graph: AgentGraph
}

export interface Visit {
  /** The graph that was refined, if any. */
  readonly best?: ScoredGraph
  readonly deletions: readonly Deletion[]
  /** The graphs that had to be scored, in order. */
  readonly asked: readonly ScoredGraph[]
}

/**
 * One search batch: scores the candidates missing from the pool, then every single deletion of its best graph. All of
 * them join the pool.
 */
export async function searchQuestion(
  pool: GraphPool,
  candidates: readonly AgentGraph[],
  score: (graph: AgentGraph) => Promise<number>,
): Promise<Visit> {
  const ask = async (graphs: readonly AgentGraph[]) => {
    const unknown = new Map<string, AgentGraph>()
    for (const graph of graphs) {
      const key = graphKey(graph)
      if (!pool.has(key) && !unknown.has(key)) unknown.set(key, graph)
    }
    const scored = await Promise.all(
      [...unknown].map(async ([key, graph]) => ({ key, graph, score: await score(graph) })),
    )
    for (const one of scored) pool.set(one.key, one)
    return scored
  }
  const drawn = await ask(candidates)
  const best = bestOf(pool)
  const deletions = best === undefined ? [] : deletionsOf(best.graph)
  return { best, deletions, asked: [...drawn, ...(await ask(deletions.map(({ graph }) => graph)))] }
}

/** The best graph, if any has a positive score; ties go to the smallest key. */
function bestOf(pool: GraphPool): ScoredGraph | undefined {
  return byScore(pool)[0]
}

/** Graphs with a positive score, best first; ties go to the smaller key. */
function byScore(pool: GraphPool): ScoredGraph[] {
  return [...pool.values()]
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
}

const mostDemonstrations = 4

/** The demonstrations of a question: the best graphs of its pool with a positive score. */
export function demonstrationsOf(pool: GraphPool): ScoredGraph[] {
  return byScore(pool).slice(0, mostDemonstrations)
}

/** The demonstration for a stage, counted from 1: those tied for the best score take turns. */
export function demonstrationAt(pool: GraphPool, stage: number): ScoredGraph | undefined {
  const tied = tiedForBest(demonstrationsOf(pool))
  return tied[(stage - 1) % tied.length]
}

export function tiedForBest(demonstrations: readonly ScoredGraph[]): ScoredGraph[] {
  return demonstrations.filter(({ score }) => score === demonstrations[0]!.score)
}

/**
 * Deletes each unit with its edges, by position, then each edge, by target and source. Each resulting graph is listed
 * once.
 */
export function deletionsOf(graph: AgentGraph): Deletion[] {
  const units = [...graph.units.keys()].map((unit) => ({
    removed: { unit },
    graph: withoutUnit(graph, unit),
  }))
  const edges = graph.units.flatMap(({ predecessors }, target) =>
    predecessors.map((source) => ({
      removed: { edge: [source, target] as const },
      graph: withoutEdge(graph, source, target),
    })),
  )
  const seen = new Set<string>()
  return [...units, ...edges].filter((deletion) => {
    const key = graphKey(deletion.graph)
    return !seen.has(key) && seen.add(key)
  })
}

/** No bridging: the unit's successors simply lose one predecessor. */
function withoutUnit(graph: AgentGraph, removed: number): AgentGraph {
  const kept = graph.units.filter((_, position) => position !== removed)
  return AgentGraph.of(
    kept.map((unit) => ({
      ...unit,
      predecessors: unit.predecessors
        .filter((predecessor) => predecessor !== removed)
        .map((predecessor) => (predecessor > removed ? predecessor - 1 : predecessor)),
    })),
  )
}

function withoutEdge(graph: AgentGraph, source: number, target: number): AgentGraph {
  return AgentGraph.of(
    graph.units.map((unit, position) =>
      position === target
        ? { ...unit, predecessors: unit.predecessors.filter((predecessor) => predecessor !== source) }
        : unit,
    ),
  )
}
