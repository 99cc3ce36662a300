import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'

/** A graph that was scored on a question, in the construction order in which it first came. */
export interface ScoredGraph {
  readonly key: string
  readonly graph: AgentGraph
  readonly score: number
}

/** Of one question: every graph that the search has scored on it, through the whole route. */
export type GraphPool = Map<string, ScoredGraph>

/** What taking one unit or one edge away leaves. */
export interface Deletion {
  readonly removed: { readonly unit: number } | { readonly edge: readonly [source: number, target: number] }
  readonly graph: AgentGraph
}

export interface Visit {
  /** The graph that was refined, if any. */
  readonly best?: ScoredGraph
  readonly deletions: readonly Deletion[]
  /** What had to be scored, in order. */
  readonly asked: readonly ScoredGraph[]
}

/**
 * One search batch: scores the candidates that the pool lacks, then what single deletions leave of its best graph. The pool
 * grows by all of them. Scores are asked for all at once.
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

/** The best graph if any is positive; of equals, the one with the smallest key. */
function bestOf(pool: GraphPool): ScoredGraph | undefined {
  return byScore(pool)[0]
}

/** Positive graphs, best first; of equals, the one with the smaller key. */
function byScore(pool: GraphPool): ScoredGraph[] {
  return [...pool.values()]
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
}

const mostDemonstrations = 4

/** What a question teaches: the best positive graphs of its pool. */
export function demonstrationsOf(pool: GraphPool): ScoredGraph[] {
  return byScore(pool).slice(0, mostDemonstrations)
}

/** The one that a stage, counted from 1, learns from: those that share the best score take turns. */
export function demonstrationAt(pool: GraphPool, stage: number): ScoredGraph | undefined {
  const tied = tiedForBest(demonstrationsOf(pool))
  return tied[(stage - 1) % tied.length]
}

export function tiedForBest(demonstrations: readonly ScoredGraph[]): ScoredGraph[] {
  return demonstrations.filter(({ score }) => score === demonstrations[0]!.score)
}

/** Each single unit with its edges, by position, then each single edge, by target and source; each graph once. */
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

/** Nothing is bridged: who heard the unit hears one less. */
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
