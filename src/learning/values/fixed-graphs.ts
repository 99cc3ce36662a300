import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Look } from './value-model.ts'

/** One graph for all questions, with its mean score and tokens on the questions it was run on. */
export interface FixedGraph {
  readonly graph: AgentGraph
  readonly score: number
  readonly tokens: number
}

/**
 * Ranks graphs by mean score on the given questions (default: all), then by fewer tokens. Graphs over `maxTokens`
 * come last, the cheapest first. Graphs that were never run are left out.
 */
export function rankFixed(
  looks: readonly Look[],
  options: {
    readonly among: readonly AgentGraph[]
    readonly on?: readonly number[]
    readonly maxTokens?: number
  },
): FixedGraph[] {
  const { among, maxTokens = Number.POSITIVE_INFINITY } = options
  const on = options.on && new Set(options.on)
  const sums = new Map(among.map((graph) => [graphKey(graph), { graph, score: 0, tokens: 0, looks: 0 }]))
  for (const { graph, question, score, tokens } of looks) {
    const sum = sums.get(graphKey(graph))
    if (sum === undefined || on?.has(question) === false) continue
    sum.score += score
    sum.tokens += tokens
    sum.looks += 1
  }
  const excess = ({ tokens }: FixedGraph) => Math.max(0, tokens - maxTokens)
  return [...sums.values()]
    .filter(({ looks }) => looks > 0)
    .map(({ graph, score, tokens, looks }) => ({ graph, score: score / looks, tokens: tokens / looks }))
    .toSorted((a, b) => excess(a) - excess(b) || b.score - a.score || a.tokens - b.tokens)
}
