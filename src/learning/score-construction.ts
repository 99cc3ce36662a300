import type { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Construction } from '../policy/construction.ts'
import type { TerminalUsage } from './rewards.ts'
import type { ScoredConstruction } from './trajectory.ts'

/** S(G, q), with what running the graph took. */
export interface GraphScore {
  readonly score: number
  readonly usage?: TerminalUsage
}

/** Runs and scores a graph on a task, or looks up an earlier result. */
export type ScoreGraph = (graph: AgentGraph, task: string) => Promise<GraphScore>

/** The scores of one update: each pair of graph and task is asked for once. Construction order makes no difference. */
export class UpdateScores {
  readonly #score: ScoreGraph
  readonly #asked = new Map<string, Promise<GraphScore>>()

  constructor(score: ScoreGraph) {
    this.#score = score
  }

  get size(): number {
    return this.#asked.size
  }

  of(graph: AgentGraph, task: string): Promise<GraphScore> {
    const key = JSON.stringify([graphKey(graph), task])
    const asked = this.#asked.get(key) ?? this.#score(graph, task)
    this.#asked.set(key, asked)
    return asked
  }
}

/** Scores every partial graph on every probe and the final graph on the query, all at once. */
export async function scoreConstruction(
  { graph, steps }: Construction,
  query: string,
  probes: readonly string[],
  scores: UpdateScores,
): Promise<Omit<ScoredConstruction, 'forcedStop'>> {
  const onProbes = steps.map((step) => Promise.all(probes.map((probe) => scores.of(step.graph, probe))))
  const [terminal, ...partial] = await Promise.all([scores.of(graph, query), ...onProbes])
  const probeScores = partial.map((onEach) => onEach.map(({ score }) => score))
  return {
    query,
    probes,
    actions: steps.map(({ action }) => action),
    transitions: probeScores.slice(1).map((childScores, position) => ({
      parentScores: probeScores[position]!,
      childScores,
    })),
    terminalScore: terminal.score,
    terminalUsage: terminal.usage,
  }
}
